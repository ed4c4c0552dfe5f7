"""Sections: what may stand in the dynamic region, and how often it is computed.

Every request carries the whole system prompt and the prompt cache is a prefix match, so a section that comes out
differently makes all tokens behind it cost the full price again.  A section is therefore computed once and served
from the conversation's cache until that is cleared; the other kind has a name that nobody writes by accident.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import InitVar, dataclass
from typing import TypeAlias

from agentcli.conversation import ConversationCache, Policy
from agentcli.text import clean

Compute: TypeAlias = Callable[[], "str | Awaitable[str | None] | None"]
Warn: TypeAlias = Callable[[str], None]

_FROM_A_FACTORY = object()
_DELIVERED = "late_sections"
"""In ``ConversationCache.choices``: names of the failed sections whose text has been delivered since."""


@dataclass(frozen=True, slots=True)
class SystemPromptSection:
    """A named part of the dynamic region.  Made by the two factories only.

    ``compute`` gives the text, ``None`` for "not in the prompt"; sync or async.  ``cache_break`` sections are computed
    at every resolve, and ``reason`` says why that is worth its price.
    """

    name: str
    compute: Compute
    cache_break: bool
    reason: str
    made_by: InitVar[object]

    def __post_init__(self, made_by: object) -> None:
        if made_by is not _FROM_A_FACTORY:
            raise TypeError(
                "a section is made by system_prompt_section or DANGEROUS_uncached_system_prompt_section, not directly"
            )
        if not self.name:
            raise ValueError("a system prompt section needs a name")

    @property
    def policy(self) -> Policy:
        return "volatile" if self.cache_break else "memoised"


def system_prompt_section(name: str, compute: Compute) -> SystemPromptSection:
    """A memoised section: computed at its first resolve, then served until the conversation's cache is cleared."""
    return SystemPromptSection(name, compute, cache_break=False, reason="", made_by=_FROM_A_FACTORY)


def DANGEROUS_uncached_system_prompt_section(name: str, compute: Compute, reason: str) -> SystemPromptSection:
    """A volatile section: computed at every resolve.  Whenever its text changes, everything behind it is paid anew.

    ``reason`` says why a reminder in the next message would not do; without one it is a ``ValueError``.
    """
    if not reason.strip():
        raise ValueError(f"section {name!r}: an uncached section needs a reason")
    return SystemPromptSection(name, compute, cache_break=True, reason=reason, made_by=_FROM_A_FACTORY)


async def resolve_system_prompt_sections(
    sections: Sequence[SystemPromptSection], cache: ConversationCache, *, warn: Warn | None = None
) -> list[str | None]:
    """The sections' texts in the order of the sections, whatever finishes first; ``None`` where one is left out.

    A compute that raises costs its section, not the turn: the section is latched as absent (if it came back, it would
    rewrite the prefix), ``warn`` gets one sentence that names it, and ``late_section_texts`` has its text later.
    ``ValueError`` when two sections have one name.
    """
    _refuse_duplicates(sections)
    if all(_settled(section, cache) for section in sections):
        return [cache.sections.get(section.name) for section in sections]
    return list(await asyncio.gather(*(_value(section, cache, warn) for section in sections)))


def clear_system_prompt_sections(cache: ConversationCache) -> None:
    """Forgets section values, beta-header latches and every other choice of the conversation.

    Called where a conversation begins anew (``/clear``) and at the end of any compaction, since a compaction can
    change what earlier values were computed from.
    """
    cache.reset()


def forget_section(cache: ConversationCache, name: str) -> None:
    """Has one section computed again at the next resolve; for changes that lose the cached prefix anyway."""
    cache.sections.pop(name, None)
    cache.absent.pop(name, None)
    cache.computing.pop(name, None)


async def late_section_texts(
    sections: Sequence[SystemPromptSection], cache: ConversationCache
) -> list[tuple[str, str]]:
    """``(name, text)`` of sections that failed and can be computed by now, each once.  The prompt stays as it is."""
    late: list[tuple[str, str]] = []
    for section in sections:
        delivered: list[str] = cache.choices.get(_DELIVERED, [])
        if section.name not in cache.absent or section.name in delivered:
            continue
        generation = cache.generation
        try:
            text = await _text(section)
        except Exception:
            continue
        if cache.generation != generation:
            break
        cache.choices[_DELIVERED] = [*cache.choices.get(_DELIVERED, []), section.name]
        if text:
            late.append((section.name, text))
    return late


def _refuse_duplicates(sections: Sequence[SystemPromptSection]) -> None:
    seen: set[str] = set()
    for section in sections:
        if section.name in seen:
            raise ValueError(f"two system prompt sections are called {section.name!r}")
        seen.add(section.name)


def _settled(section: SystemPromptSection, cache: ConversationCache) -> bool:
    """Whether the cache decides about the section.  Values of volatile sections are kept there, but never read."""
    return section.name in cache.absent or (not section.cache_break and section.name in cache.sections)


async def _value(section: SystemPromptSection, cache: ConversationCache, warn: Warn | None) -> str | None:
    while not _settled(section, cache):
        if section.cache_break:
            return await _computed(section, cache, warn)
        running = cache.computing.get(section.name)
        if running is None:
            return await _computed_for_all(section, cache, warn)
        await asyncio.wait((running,))  # unlike awaiting it, this neither cancels it nor raises its cancellation
        if not running.cancelled():
            return running.result()
    return cache.sections.get(section.name)


async def _computed_for_all(section: SystemPromptSection, cache: ConversationCache, warn: Warn | None) -> str | None:
    """Computes while others who want the same section wait.  Cancelled, it leaves the work to one of them."""
    future: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()
    cache.computing[section.name] = future
    try:
        value = await _computed(section, cache, warn, claim=future)
        future.set_result(value)
    finally:
        future.cancel()
        if cache.computing.get(section.name) is future:
            del cache.computing[section.name]
    return value


async def _computed(
    section: SystemPromptSection,
    cache: ConversationCache,
    warn: Warn | None,
    *,
    claim: asyncio.Future[str | None] | None = None,
) -> str | None:
    """Computes and remembers, unless the cache was cleared or the section forgotten in the meantime."""
    generation = cache.generation
    failure = ""
    try:
        value = await _text(section)
    except Exception as error:
        value, failure = None, str(error) or type(error).__name__
    if cache.generation != generation or (claim is not None and cache.computing.get(section.name) is not claim):
        return value
    if failure:
        first = section.name not in cache.absent
        cache.absent[section.name] = failure
        cache.sections.pop(section.name, None)
        if first and warn is not None:
            warn(f"The system prompt goes without its section {section.name!r}, which could not be built: {failure}")
        return None
    if section.name in cache.absent:  # a volatile one that failed in another resolve at the same time
        return None
    cache.sections[section.name] = value
    return value


async def _text(section: SystemPromptSection) -> str | None:
    """The compute's answer as valid Unicode.  A cancellation of its own making counts as a failure."""
    try:
        found = section.compute()
        value = await found if inspect.isawaitable(found) else found
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        raise RuntimeError("its computation was cancelled") from error
    if value is not None and not isinstance(value, str):
        raise TypeError(f"expected a text, got {type(value).__name__}")
    return None if value is None else clean(value)
