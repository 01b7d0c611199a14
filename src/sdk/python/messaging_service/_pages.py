"""Lists of the API, which come in pages."""

from __future__ import annotations

from typing import Any, AsyncIterator, Awaitable, Callable, Dict, Generic, Iterator, List, Optional, TypeVar

Item = TypeVar("Item")
Query = Dict[str, Any]


def following(query: Query, count: int, meta: Dict[str, Any]) -> Optional[Query]:
    """The query of the page after this one. A cursor misses nothing while rows are added."""
    if "next_cursor" in meta:
        cursor = meta["next_cursor"]
        return None if cursor is None else {**query, "page": None, "cursor": cursor}
    page, per_page, total = meta.get("page"), meta.get("per_page"), meta.get("total")
    if page is None or per_page is None or total is None or count == 0:
        return None
    return {**query, "page": page + 1} if page * per_page < total else None


class Page(Generic[Item]):
    """One page: its rows in ``data``, and what the list says about itself in ``meta``."""

    def __init__(self, data: List[Item], meta: Dict[str, Any], next_query: Optional[Query]) -> None:
        self.data = data
        self.meta = meta
        self._next_query = next_query

    @property
    def has_next(self) -> bool:
        """Whether another page follows."""
        return self._next_query is not None

    def __iter__(self) -> Iterator[Item]:
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)


class PageList(Generic[Item]):
    """A list that was asked for. Iterate over it for the rows of all pages, or take page by page."""

    def __init__(self, load: Callable[[Query], Page[Item]], query: Query) -> None:
        self._load = load
        self._query = query

    def first_page(self) -> Page[Item]:
        """The first page."""
        return self._load(self._query)

    def pages(self) -> Iterator[Page[Item]]:
        """All pages, each asked for when it is needed."""
        query: Optional[Query] = self._query
        while query is not None:
            page = self._load(query)
            yield page
            query = page._next_query

    def __iter__(self) -> Iterator[Item]:
        for page in self.pages():
            yield from page.data


class AsyncPageList(Generic[Item]):
    """A list that was asked for. Iterate over it for the rows of all pages, or take page by page."""

    def __init__(self, load: Callable[[Query], Awaitable[Page[Item]]], query: Query) -> None:
        self._load = load
        self._query = query

    async def first_page(self) -> Page[Item]:
        """The first page."""
        return await self._load(self._query)

    async def pages(self) -> AsyncIterator[Page[Item]]:
        """All pages, each asked for when it is needed."""
        query: Optional[Query] = self._query
        while query is not None:
            page = await self._load(query)
            yield page
            query = page._next_query

    async def __aiter__(self) -> AsyncIterator[Item]:
        async for page in self.pages():
            for item in page.data:
                yield item
