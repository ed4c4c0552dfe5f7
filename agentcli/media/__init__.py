"""Images and PDF files as content that the API takes.  The heavy libraries load when the first file needs them."""

from agentcli.media.images import IMAGE_TYPES, MAX_EDGE, MAX_ENCODED, Picture, image_block, sniff
from agentcli.media.pdf import MAX_PAGES, MAX_WHOLE, Pages, parse_pages, pdf_block

__all__ = [
    "IMAGE_TYPES",
    "MAX_EDGE",
    "MAX_ENCODED",
    "MAX_PAGES",
    "MAX_WHOLE",
    "Pages",
    "Picture",
    "image_block",
    "parse_pages",
    "pdf_block",
    "sniff",
]
