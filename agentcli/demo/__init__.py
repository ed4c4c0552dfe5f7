"""``agentcli demo``: the whole real program on a small repository, with a scripted model in place of the API."""
