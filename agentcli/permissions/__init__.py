"""Who may do what: rules, the policy that applies them, the questions they lead to, and where answers are kept."""
