"""``agentcli -p``: standard output carries only the contract; everything else goes to standard error."""
