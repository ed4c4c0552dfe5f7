# Stands in for an editor where nobody can edit: says how to go on without one, and fails, so that nothing is made up.
cat >&2 <<'END'
agentcli: no editor can be opened, since nobody is at the keyboard. Without one:
  git commit -m "message"   or   git commit -F FILE
  git commit --amend --no-edit   ·   git merge --no-edit   ·   git tag -m "message"
  GIT_EDITOR=true git rebase --continue              (keeps the messages as they are)
  GIT_SEQUENCE_EDITOR="sed -i ..." git rebase -i ...   (edits the todo list)
END
exit 1
