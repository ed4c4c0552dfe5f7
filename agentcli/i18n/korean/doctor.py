"""``/doctor``의 진단."""

from __future__ import annotations

from collections.abc import Mapping

TEXTS: Mapping[str, str] = {
    "doctor.note": "참고",
    "doctor.missing": "문제",
    "doctor.python": "{version}, Python {python} ({platform})",
    "doctor.mend": "해당 파일을 고치세요",
    "doctor.not_found": "찾을 수 없음. 용도: {use}",
    "doctor.git": "변경 비교, 브랜치, 저장소 신뢰",
    "doctor.git.todo": "git을 설치하세요",
    "doctor.bash": "셸 도구",
    "doctor.bash.todo": "bash를 설치하거나 CLAUDE_CODE_SHELL에 다른 셸을 지정하세요",
    "doctor.ripgrep": "찾을 수 없음. Grep과 Glob이 더 느린 내장 검색을 씁니다",
    "doctor.ripgrep.todo": "ripgrep을 설치하세요",
    "doctor.sandbox.fatal": "이것 없이는 세션이 시작되지 않습니다",
    "doctor.sandbox.without": "명령이 격리 없이 실행됩니다",
    "doctor.sandbox.tried": "{program}, 동작 확인",
    "doctor.home.none": "홈 디렉터리가 없어 세션이 저장되지 않습니다",
    "doctor.home.none.todo": "HOME 또는 AGENTCLI_HOME을 지정하세요",
    "doctor.home.locked": "{home}에 쓸 수 없어 세션이 저장되지 않습니다",
    "doctor.home.locked.todo": "{place}에 쓸 수 있게 하세요",
    "doctor.settings.none": "없음. 기본값을 씁니다",
    "doctor.settings.mend": "파일을 고치세요",
    "doctor.settings.unknown": "알 수 없는 키: {name}. 그대로 두지만 효과는 없습니다",
    "doctor.trust": "신뢰하지 않는 프로젝트라서 그 설정 가운데 제한하는 것만 적용됩니다",
    "doctor.trust.todo": "여기에서 agentcli를 시작해 질문에 답하거나 --trust를 쓰세요",
    "doctor.server": "{where} ({provider}), 키 출처: {source}",
    "doctor.terminal.input": "입력이 터미널이 아님",
    "doctor.terminal.output": "출력이 터미널이 아님",
    "doctor.terminal.headless": "{problems}: 여기에서는 -p 실행만 됩니다",
    "doctor.terminal.unset": "지정되지 않음",
    "doctor.terminal.dumb": "TERM={term}: 색과 키 없이 단순한 줄로 표시합니다",
    "doctor.terminal": "TERM={term}, {columns}열",
}
