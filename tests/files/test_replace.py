from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from agentcli.files import FileChanged, create_file, open_private_append, read_stamped, replace_file, write_private
from agentcli.files import replace as replacing


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_mode_bits_and_name_stay_and_nothing_is_left_behind(project: Path) -> None:
    script = project / "run.sh"
    script.write_text("old")
    script.chmod(0o2754)
    assert replace_file(script, b"new") == script
    assert (script.read_bytes(), mode(script)) == (b"new", 0o2754)
    assert os.listdir(project) == ["run.sh"]


def test_hard_links_stay_one_file(project: Path) -> None:
    first, second = project / "a", project / "b"
    first.write_bytes(b"k=1, a longer text")
    os.link(first, second)
    first.chmod(0o660)
    replace_file(first, b"k=2")
    assert (second.read_bytes(), first.stat().st_nlink, mode(first)) == (b"k=2", 2, 0o660)
    assert sorted(os.listdir(project)) == ["a", "b"]


def test_a_link_stays_a_link(project: Path) -> None:
    (project / "deep").mkdir()
    target = project / "deep" / "real.txt"
    target.write_text("old")
    (project / "link").symlink_to("deep/real.txt")
    assert replace_file(project / "link", b"new") == target
    assert (project / "link").is_symlink()
    assert target.read_bytes() == b"new"


@pytest.mark.skipif(not hasattr(os, "setxattr"), reason="no extended attributes here")
def test_extended_attributes_stay(project: Path) -> None:
    path = project / "a"
    path.write_text("old")
    try:
        os.setxattr(path, "user.note", b"kept")
    except OSError as error:
        pytest.skip(f"this file system has none: {error}")
    replace_file(path, b"new")
    assert os.getxattr(path, "user.note") == b"kept"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
def test_a_foreign_owner_stays(project: Path) -> None:
    path = project / "a"
    path.write_text("old")
    os.chown(path, 12345, 23456)
    replace_file(path, b"new")
    assert (path.stat().st_uid, path.stat().st_gid) == (12345, 23456)


def test_a_change_by_somebody_else_is_noticed(project: Path) -> None:
    path = project / "a"
    path.write_text("old")
    _, stamp = read_stamped(path)
    path.write_text("theirs")
    with pytest.raises(FileChanged):
        replace_file(path, b"ours", expect=stamp)
    assert path.read_text() == "theirs"
    assert os.listdir(project) == ["a"]


@pytest.mark.parametrize("links", [1, 2])
def test_a_write_that_fails_half_way_leaves_the_old_content(project: Path, links: int) -> None:
    """The file size limit of the child stands for a full disk."""
    path = project / "a"
    path.write_bytes(b"old" * 1000)
    if links == 2:
        os.link(path, project / "b")
    program = (
        "import resource, signal, sys; from pathlib import Path; from agentcli.files import replace_file\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))\n"
        "try:\n replace_file(Path(sys.argv[1]), b'n' * 9000)\n"
        "except OSError as error: sys.exit(error.errno)\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(path)])
    assert done.returncode == errno.EFBIG
    assert path.read_bytes() == b"old" * 1000
    assert len(os.listdir(project)) == links


def test_a_failure_in_the_middle_of_an_in_place_write_puts_the_old_content_back(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = project / "a"
    path.write_bytes(b"old" * 1000)
    os.link(path, project / "b")
    real_write = os.write
    calls: list[int] = []

    def failing(descriptor: int, data: memoryview) -> int:
        calls.append(len(data))
        if len(calls) == 1:
            return real_write(descriptor, bytes(data)[:10])
        if len(calls) == 2:
            raise OSError(errno.EIO, "disk trouble")
        return real_write(descriptor, data)

    monkeypatch.setattr(replacing.os, "write", failing)
    with pytest.raises(OSError, match="disk trouble"):
        replace_file(path, b"n" * 5000)
    assert (project / "b").read_bytes() == b"old" * 1000
    assert sorted(os.listdir(project)) == ["a", "b"]


@pytest.mark.parametrize(("mask", "file", "directory"), [(0o002, 0o664, 0o775), (0o027, 0o640, 0o750)])
def test_new_files_and_directories_obey_the_umask(project: Path, mask: int, file: int, directory: int) -> None:
    before = os.umask(mask)
    try:
        made = create_file(project / "deep" / "er" / "new.txt", b"x\n")
        write_private(project / "secret", b"s")
        os.close(open_private_append(project / "log"))
    finally:
        os.umask(before)
    assert (mode(made), mode(made.parent), mode(made.parent.parent)) == (file, directory, directory)
    assert (mode(project / "secret"), mode(project / "log")) == (0o600, 0o600)


def test_a_new_file_never_replaces_one_that_came_between(project: Path) -> None:
    (project / "a").write_text("theirs")
    with pytest.raises(FileExistsError):
        create_file(project / "a", b"ours")
    assert (project / "a").read_text() == "theirs"
    assert os.listdir(project) == ["a"]


def test_a_dangling_link_names_the_file_to_create(project: Path) -> None:
    (project / "link").symlink_to("nowhere.txt")
    assert create_file(project / "link", b"y\n") == project / "nowhere.txt"
    assert (project / "link").is_symlink()


def test_reading_never_blocks_on_a_pipe(project: Path) -> None:
    os.mkfifo(project / "pipe")
    with pytest.raises(OSError, match="Not a regular file"):
        read_stamped(project / "pipe")


def test_circular_links_are_an_error(project: Path) -> None:
    (project / "a").symlink_to("b")
    (project / "b").symlink_to("a")
    with pytest.raises(OSError) as caught:
        replace_file(project / "a", b"")
    assert caught.value.errno == errno.ELOOP
