"""Paths as the policy sees them: every name a file goes by, what lies inside the working directories, what is
protected."""

from __future__ import annotations

import glob
import os
import re
from dataclasses import dataclass, field
from pathlib import Path

from agentcli.ports.tools import Workspace
from agentcli.shell import Piece, Word

MOST_MATCHES = 200
"""Files of one unquoted pattern that are looked at; of more nothing is known."""
HARMLESS_DEVICES = frozenset({"/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/zero"})
PROTECTED_DIRECTORIES = frozenset(
    {".git", ".vscode", ".idea", ".husky", ".cargo", ".devcontainer", ".yarn", ".mvn", ".claude", ".agentcli"}
    | {".ssh", ".gnupg", ".aws", ".kube", ".circleci"}
)
PROTECTED_FILES = frozenset(
    {".gitconfig", ".gitmodules", ".bashrc", ".bash_profile", ".bash_login", ".bash_logout"}
    | {".bash_aliases", ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".profile", ".envrc", ".npmrc"}
    | {".yarnrc", ".yarnrc.yml", ".pnp.cjs", ".pnp.loader.mjs", ".pnpmfile.cjs", "bunfig.toml", ".bunfig.toml"}
    | {".bazelrc", ".bazelversion", ".bazeliskrc", ".pre-commit-config.yaml", ".pre-commit-config.yml"}
    | {"lefthook.yml", "lefthook.yaml", ".lefthook.yml", "lefthook-local.yml", "gradle-wrapper.properties"}
    | {"maven-wrapper.properties", ".devcontainer.json", ".ripgreprc", "pyrightconfig.json", ".mcp.json"}
    | {".claude.json", ".netrc", ".pypirc", ".inputrc", ".vimrc", ".gitlab-ci.yml", "jenkinsfile"}
)
_PROTECTED_PAIRS = ((".config", "git"), (".github", "workflows"), (".config", "fish"), (".config", "autostart"))


@dataclass(frozen=True, slots=True)
class Place:
    """A file by all its names: as written (``lexical``), where it really is (``real``), and the links in between."""

    lexical: Path
    real: Path
    between: tuple[Path, ...] = ()

    @property
    def names(self) -> tuple[Path, ...]:
        return tuple(dict.fromkeys((self.lexical, *self.between, self.real)))


def place(path: Path) -> Place:
    """All names of an absolute path.  ``OSError`` never: a loop of links counts as what is written."""
    lexical = Path(os.path.normpath(path))
    try:
        real = path.resolve(strict=False)
        between = _links(lexical)
    except (OSError, RuntimeError):
        return Place(lexical, lexical)
    return Place(lexical, real, between)


def _links(path: Path) -> tuple[Path, ...]:
    """The stations of a chain of links that ends in the file, and the file seen through its real directory."""
    found = [path.parent.resolve() / path.name]
    here = path
    for _ in range(16):
        if not os.path.islink(here):
            break
        target = Path(os.readlink(here))
        here = Path(os.path.normpath(target if target.is_absolute() else here.parent / target))
        found.append(here)
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Ground:
    """Where the session works, for the policy: a view of the workspace with the home directory."""

    workspace: Workspace
    home: Path | None = None
    private: tuple[Path, ...] = ()
    """Directories of the session itself that may be read without asking (spilled results)."""
    own: tuple[Path, ...] = ()
    """Directories of the agent's own, as they are named and as they really are, that may be written without asking,
    and so read (scratch, its notes)."""
    trusted: bool = True
    """Whether the project is trusted: of one that is not, the git configuration may be a trap."""
    real_roots: tuple[Path, ...] = field(init=False, default=())

    def __post_init__(self) -> None:
        roots = tuple(r.resolve() for r in (*self.workspace.roots, *self.private, *self.own))
        object.__setattr__(self, "real_roots", roots)

    def inside(self, where: Place) -> bool:
        """Whether the file lies in a working directory, under every name."""
        return any(where.real.is_relative_to(root) for root in self.real_roots)

    def owned(self, where: Place) -> bool:
        """Whether the file lies in a directory of the agent's own, under every name: a link that leads in or out of it
        is not its own."""
        return all(any(name.is_relative_to(d) for d in self.own) for name in where.names)

    def resolve(self, text: str) -> Place:
        return place(self.workspace.resolve(text))

    def directories(self, symbolic: tuple[str, ...] | None) -> tuple[Path, ...] | None:
        """Real directories for the symbolic ones of a command; ``None`` for anywhere.  Where ``..`` follows a link,
        both readings of it count."""
        if symbolic is None:
            return None
        found: dict[Path, None] = {}
        for text in symbolic:
            if text == "~" or text.startswith("~/"):
                if self.home is None:
                    return None
                path = self.home / text[2:]
            else:
                path = self.workspace.cwd / text
            found[path.resolve()] = None
            found[Path(os.path.normpath(path))] = None
        return tuple(found)

    def places(
        self, word: Word, directories: tuple[Path, ...] | None, *, head: bool = True
    ) -> tuple[Place, ...] | None:
        """Every file that a word of a command may name; ``None`` when that is only known when it runs.

        For an unquoted pattern these are the files that match now and, with ``head``, the directory in front of it.
        """
        if len(word.pieces) == 1 and word.pieces[0].text.startswith(("<(", ">(")):
            # A pipe to commands that are judged by themselves.
            return () if word.pieces[0].kind == "hole" else None
        text = self._expanded(_from_here(word))
        if text is None:
            return None
        if os.path.isabs(text):
            directories = (Path("/"),)
        if directories is None:
            return None
        found: list[Place] = []
        for directory in directories:
            if word.glob:
                matched = _globbed(word, text, directory)
                if matched is None:
                    return None
                found += (place(m) for m in matched)
            if head or not word.glob:
                found.append(place(directory / _glob_head(text) if word.glob else directory / text))
        return tuple(found)

    def _expanded(self, word: Word) -> str | None:
        """The word's text with ``~`` and ``$HOME`` replaced."""
        parts: list[str] = []
        for piece in word.pieces:
            if piece.kind in {"text", "glob"}:
                parts.append(piece.text)
            elif piece.kind == "variable" and piece.text == "HOME" and self.home is not None:
                parts.append(str(self.home))
            else:
                return None
        text = "".join(parts)
        if word.tilde:
            if self.home is None or not re.match(r"~(?:/|\Z)", text):
                return None
            text = str(self.home) + text[1:]
        return text


def _from_here(word: Word) -> Word:
    """``$PWD/x`` and ``~+/x`` as ``./x``: they name the directory where the command runs, which a ``cd`` in front of it
    has changed."""
    first = next((i for i, p in enumerate(word.pieces) if p.kind != "text" or p.text), 0)
    if first == len(word.pieces):
        return word
    piece, rest = word.pieces[first], word.pieces[first + 1 :]
    following = "".join(p.text for p in rest[:1])
    if piece.kind == "variable" and piece.text == "PWD" and (not rest or following.startswith("/") or not following):
        return Word((Piece("text", "."), *rest))
    if word.tilde and re.match(r"~\+(?:/|\Z)", piece.text):
        return Word((Piece("text", "." + piece.text[2:]), *rest))
    return word


def _globbed(word: Word, text: str, directory: Path) -> list[Path] | None:
    """The files that an unquoted pattern stands for now; ``None`` when there are too many to look at."""
    pattern = text if os.path.isabs(text) else os.path.join(glob.escape(str(directory)), text)
    if any(p.kind == "text" and glob.has_magic(p.text) for p in word.pieces):
        return None
    found: list[Path] = []
    for match in glob.iglob(pattern, include_hidden=False):
        found.append(Path(match))
        if len(found) > MOST_MATCHES:
            return None
    return found


def _glob_head(text: str) -> str:
    """The directory in front of the first pattern character."""
    return re.split(r"[*?\[]", text, maxsplit=1)[0].rpartition("/")[0] or ("/" if text.startswith("/") else ".")


def protected(where: Place) -> str:
    """Why a file is never changed silently; empty for an ordinary one.  Of a link to nothing somebody else chose what
    would be made."""
    if os.path.islink(where.lexical) and not os.path.exists(where.real):
        return f"{where.real} would be made: the name is a link to nothing"
    for name in where.names:
        parts = [p.lower() for p in name.parts]
        if _worktree(parts):
            continue
        for index, part in enumerate(parts):
            if part in PROTECTED_DIRECTORIES or tuple(parts[index : index + 2]) in _PROTECTED_PAIRS:
                return f"{part} is protected"
        if parts and parts[-1] in PROTECTED_FILES:
            return f"{parts[-1]} is protected"
    return ""


def _worktree(parts: list[str]) -> bool:
    """Inside of ``.claude/worktrees``: a work tree like any other, apart from what is protected in it."""
    for index in range(len(parts) - 2):
        if parts[index : index + 2] == [".claude", "worktrees"]:
            rest = parts[index + 2 :]
            return not any(p in PROTECTED_DIRECTORIES for p in rest) and rest[-1] not in PROTECTED_FILES
    return False


def critical(where: Place, ground: Ground, *, follow: bool = False) -> str:
    """Why removing this must always be asked about; empty for an ordinary target.  A removal takes a link, not what it
    points at; ``follow`` where the name ends in a slash."""
    for name in where.names if follow else (where.lexical, *where.between[:1]):
        if len(name.parts) <= 2:
            return f"{name} is the root of the file system or stands directly below it"
        if ground.home is not None and (name == ground.home or ground.home.resolve() == name):
            return f"{name} is the home directory"
        for root in (*ground.workspace.roots, ground.workspace.cwd):
            if root == name or root.is_relative_to(name) or root.resolve().is_relative_to(name):
                return f"{name} holds a working directory"
    return ""
