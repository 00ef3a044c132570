"""Reading the records of one call: who may own which, what is damaged, what is ignored."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TypeVar

from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.checkpoints.fileread import FileBytes, read_file
from lineclear.core.checkpoints.sniff import read_checkpoint
from lineclear.core.errors import Unreadable
from lineclear.core.ledger.bound import NO_OUTCOME, NO_START, Ledger
from lineclear.core.ledger.calls import CallRecords, Rewritten, Shown
from lineclear.core.ledger.folders import stands, uid_of
from lineclear.core.ledger.held_decision import held_decision, rewritten
from lineclear.core.ledger.in_time import refuse_to_come
from lineclear.core.ledger.layout import APPROVALS, RecordKind, RecordName, parse_name, record_name
from lineclear.core.ledger.numbered import Named, by_count, by_listing
from lineclear.core.ledger.one_look import Found
from lineclear.core.ledger.records import (
    BoundRecord,
    Decision,
    Launch,
    Outcome,
    Person,
    RequestBlock,
    Revoked,
    Start,
    decode_start,
)
from lineclear.core.sentences import worded

MAX_RESULT_BYTES = 256 << 20
_FROM_ANYONE_HERE = frozenset({"expired", "withdrawn"})
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class RecordReader:
    """Reads records of one store's `.approvals`; every method checks owner and mode.

    A store's owner owns request, start, outcome and launch; operators own decisions and the
    outcome `resolved`, and may also own revocations and the outcome `withdrawn` of an approval that
    was taken back. Who is named as having done it is who owns the file; `resolved` names somebody
    always, and ends only what was started. The verdict `withdrawn` is the owner's alone, `expired`
    his too.
    In a foreign store, which has no agent of ours, all records are the operators', but what
    starts the agent again is its owner's: no one else can start it. Who started a call ends
    it there, and `denied` may be told by anyone where that was decided.
    A record counts only for the call and the folder that it names: `bound` says what becomes of
    those that were moved or copied here.
    All methods raise Unreadable, with `absent` where the record is not there.
    """

    dir_fd: int
    store: Path
    store_id: str | None
    owner: int
    operators: frozenset[int]
    folder: int
    """Inode number of the store's folder."""

    def request(self, seq: int | None, aid: str | None) -> Shown:
        """Read a request once and keep the buffer.

        Raises Unreadable: what reading a file and a checkpoint raises, `no_envelope` (not made
        by Lineclear), `damaged`; `request_seq`, `request_store`, `request_aid` (of another call).
        """
        name = record_name("request", seq=seq, aid=aid)
        owners = self._either if self.store_id is None else frozenset({self.owner})
        # A copy of another program's checkpoint is as long as that may be.
        file = self._read(name, owners, MAX_RESULT_BYTES if seq is None else 16 << 20)
        try:
            checkpoint = read_checkpoint(file.raw)
        except Unreadable as why:
            raise Unreadable(
                why.code,
                worded("{name} cannot be read: {why}", name=name, why=why.sentence),
                self._path(name),
            ) from why
        shown = Shown(
            store=self.store,
            seq=seq,
            aid=aid or "",
            raw=file.raw,
            sha256=checkpoint.sha256,
            checkpoint=checkpoint,
        )
        if seq is None:
            return shown
        block = self._block(name, checkpoint.envelope, seq)
        if aid is not None and block.aid != aid:
            raise Unreadable(
                "request_aid",
                worded("{name} is the request of another call.", name=name),
                self._path(name),
            )
        return replace(shown, aid=block.aid, block=block)

    def request_bytes(self, seq: int) -> bytes | None:
        """Give a native request's bytes unparsed; b"" where there is none, None if unreadable."""
        name = record_name("request", seq=seq, aid=None)
        try:
            return self._read(name, frozenset({self.owner})).raw
        except Unreadable as why:
            return b"" if why.code in ("absent", "owner") else None

    def decision(self, seq: int | None, aid: str) -> tuple[Decision, bytes]:
        """Read a decision and its bytes.

        Raises Unreadable: `by_uid` (it names another user than the file's owner), `wrong_aid`,
        `wrong_store`, `wrong_folder` (it was given elsewhere).
        """
        name = record_name("decision", seq=seq, aid=aid)
        file = self._read(name, self._either)
        decision = Decision.decode(file.raw, self._path(name))
        uid = file.identity.uid
        if uid not in self.operators and decision.verdict not in _FROM_ANYONE_HERE:
            raise self._foreign(name, uid, worded("no operator of this store"))
        if decision.verdict == "withdrawn" and uid != self.owner:
            raise self._foreign(name, uid, worded("not the owner of this store"))
        if decision.by.uid != uid:
            raise self._by_another(name, decision.by, worded("decided"), uid)
        if decision.verdict == "expired" and uid != self.owner:
            refuse_to_come(decision, self._path(name), self.dir_fd)
        self._refuse_misplaced(decision, aid, name)
        return decision, file.raw

    def start(self, seq: int | None, aid: str) -> Start | Revoked:
        """Read what holds the start slot.

        Raises Unreadable: `by_uid` (a revocation in another user's name), `start_taken` (what was
        moved here and started nothing), `wrong_aid`, `wrong_store`, `wrong_folder` (a start by the
        store's owner that was: it may have run).
        """
        name = record_name("start", seq=seq, aid=aid)
        file = self._read(name, self._either)
        start = decode_start(file.raw, self._path(name))
        uid = file.identity.uid
        if isinstance(start, Start):
            self._refuse_operator(name, uid)
        elif start.revoked.by.uid != uid:
            raise self._by_another(name, start.revoked.by, worded("took the approval back"), uid)
        its_own = isinstance(start, Start) and uid == self.owner
        self._refuse_misplaced(start, aid, name, code=None if its_own else "start_taken")
        return start

    def outcome(
        self, seq: int | None, aid: str, *, named: Iterable[Named] | None = None
    ) -> Outcome:
        """Read the outcome: where none that counts is in its slot, the first one beside it.

        Whoever put something else into the slot may take it away again: what ended stays ended.
        NAMED are the late outcomes that there are, where the caller has a listing.
        """
        try:
            return self._outcome(record_name("outcome", seq=seq, aid=aid))
        except Unreadable as why:
            if why.code not in NO_OUTCOME:
                raise
            if named is None:
                named = by_listing("outcome-late", seq, aid, self._folder, self.dir_fd)
            for name, _ in named:
                try:
                    return self._outcome(name)
                except Unreadable as unread:
                    unread.raise_if_passing()
            raise

    def result(self, seq: int | None, aid: str) -> bytes:
        """Read the result that is too long for the outcome record."""
        name = record_name("result", seq=seq, aid=aid)
        return self._read(name, self._either, MAX_RESULT_BYTES).raw

    def call(
        self,
        seq: int | None,
        aid: str | None,
        named: Iterable[tuple[str, RecordName]],
        *,
        as_listed: bool = False,
    ) -> CallRecords:
        """Read all records of one call among the NAMED ones, which may belong to others too.

        AS_LISTED: what is not named is not looked for; for who sees the folder change anyway.
        """
        named = [
            (name, parsed)
            for name, parsed in named
            if parsed.seq == seq and (seq is not None or parsed.aid == aid)
        ]
        found = Found()
        listed = frozenset(name for name, _ in named) if as_listed else None
        own = record_name("request", seq=seq, aid=aid)
        request = None
        if listed is None or own in listed:
            request = found.attempt(own, partial(self.request, seq, aid))
        if request is not None:
            aid = request.aid
        elif aid is None:
            aid = next((parsed.aid for _, parsed in named if parsed.aid), "")
        for name, parsed in named:
            if parsed.aid not in (None, aid):
                found.stray.append(
                    (name, worded("{name} belongs to no request of this store.", name=name))
                )
        numbered = [(name, parsed) for name, parsed in named if parsed.n and parsed.aid == aid]
        return self._facts(seq, aid or "", request, found, numbered, listed=listed)

    def known(self, seq: int | None, aid: str) -> CallRecords:
        """Read the records of one call by their names alone, without its launches."""
        kind: RecordKind = "outcome-late"
        counted = by_count(kind, seq, aid, self._folder, self.dir_fd)
        records = self._named(seq, aid, counted)
        slot = record_name("outcome", seq=seq, aid=aid)
        if records.outcome is None and not any(name == slot for name, _, _ in records.damaged):
            # The one that counts stands beside it, under whatever number was free.
            every = by_listing(kind, seq, aid, self._folder, self.dir_fd)
            return self._named(seq, aid, every)
        return records

    def _named(self, seq: int | None, aid: str, numbered: Iterable[Named]) -> CallRecords:
        found = Found()
        request = found.attempt(
            record_name("request", seq=seq, aid=aid), partial(self.request, seq, aid)
        )
        return self._facts(seq, aid, request, found, numbered)

    def _facts(
        self,
        seq: int | None,
        aid: str,
        request: Shown | None,
        found: Found,
        numbered: Iterable[tuple[str, RecordName]],
        *,
        listed: frozenset[str] | None = None,
    ) -> CallRecords:
        if not aid:
            return CallRecords(seq, aid, damaged=tuple(found.damaged), stray=tuple(found.stray))

        def fact(kind: RecordKind, read: Callable[[int | None, str], _T]) -> _T | None:
            name = record_name(kind, seq=seq, aid=aid)
            if listed is not None and name not in listed:
                return None
            return found.attempt(name, partial(read, seq, aid))

        decided = fact("decision", self.decision)
        late: list[Outcome | None] = []
        launches: list[Launch | None] = []
        for name, parsed in sorted(numbered, key=lambda one: one[1].n or 0):
            if parsed.kind == "outcome-late":
                late.append(found.attempt(name, partial(self._outcome, name)))
            elif parsed.kind == "launch":
                launches.append(found.attempt(name, partial(self._launch, name)))
        ends = [one for one in late if one is not None]
        slot = record_name("outcome", seq=seq, aid=aid)
        start = fact("start", self.start)
        changed: Rewritten | None = None
        held = held_decision(start, aid)
        if held is not None:
            if request is not None:
                own = record_name("decision", seq=seq, aid=aid)
                changed = rewritten(held[1], decided, own, found.why_unread(own))
            decided = held
        if request is not None and decided is not None and decided[0].item is not None:
            request = replace(request, item=decided[0].item)
        outcome = fact("outcome", lambda _seq, _aid: self._outcome(slot))
        if outcome is None and ends and not found.is_damaged(slot):
            outcome = ends.pop(0)
        return CallRecords(
            seq=seq,
            aid=aid,
            request=request,
            decision=decided[0] if decided else None,
            decision_raw=decided[1] if decided else None,
            rewritten=changed,
            start=start,
            outcome=outcome,
            late_outcomes=tuple(ends),
            launches=tuple(filter(None, launches)),
            damaged=tuple(found.damaged),
            stray=tuple(found.stray),
            given_up=isinstance(start, Revoked) and self.given_up(request, start),
        )

    def given_up(self, request: Shown | None, revoked: Revoked) -> bool:
        """Tell whether an agent gave up its own call, where else a person took an approval back.

        By the uid, which is a fact, where operators are other users; a name only where agent and
        operator are one user: there `take_back` keeps them apart.
        """
        if request is None or request.block is None:
            return False
        if self.owner not in self.operators:
            return revoked.revoked.by.uid == self.owner
        return revoked.revoked.by.name == request.block.agent

    @property
    def _either(self) -> frozenset[int]:
        return self.operators | {self.owner}

    def _outcome(self, name: str) -> Outcome:
        file = self._read(name, self._either)
        try:
            outcome = Outcome.decode(file.raw, self._path(name))
        except Unreadable as why:
            if file.identity.uid == self.owner or why.code == "unknown_version":
                raise
            # At most a settlement, which is asked for again: the store's owner ends calls.
            told = worded(
                "{name} belongs to user {uid}. {why}",
                name=visible_line(name),
                uid=file.identity.uid,
                why=why.sentence,
            )
            raise Unreadable("owner", told, self._path(name)) from why
        self._refuse_stray(outcome, name)
        uid = file.identity.uid
        if outcome.outcome == "resolved" and uid not in self.operators:
            raise self._foreign(name, uid, worded("no operator of this store"))
        if outcome.outcome == "resolved" and outcome.by is None:
            raise self._foreign(name, uid, worded("and does not say who settled the call"))
        if outcome.outcome != "resolved" and uid != self.owner:
            self._refuse_not_theirs_to_end(name, outcome, uid)
        if outcome.by is not None and outcome.by.uid != uid and not self._told(name, outcome):
            raise self._by_another(name, outcome.by, worded("ended the call"), uid, code="owner")
        if outcome.outcome == "resolved" and self._never_started(name, outcome.ended_at):
            raise self._foreign(name, uid, worded("and settles a call that was not started"))
        return outcome

    def _never_started(self, name: str, at: datetime) -> bool:
        """Tell whether nothing was started of a call by AT: only what may have run is settled.

        False where its request is gone: old records are removed in that order.
        """
        parsed = parse_name(name)
        assert parsed is not None
        assert parsed.aid is not None
        try:
            start = self.start(parsed.seq, parsed.aid)
            return isinstance(start, Revoked) or at < start.at
        except Unreadable as why:
            why.raise_if_passing()
            if why.code not in NO_START:
                return False
        request = record_name("request", seq=parsed.seq, aid=parsed.aid)
        return stands(request, self._folder, dir_fd=self.dir_fd)

    def _refuse_not_theirs_to_end(self, name: str, outcome: Outcome, uid: int) -> None:
        """Refuse how another user than the store's owner says that a call ended."""
        if outcome.outcome == "withdrawn":
            if not self._told(name, outcome):
                raise self._foreign(name, uid, worded("who took no approval of this call back"))
            return
        self._refuse_operator(name, uid)
        parsed = parse_name(name)
        assert parsed is not None
        assert parsed.aid is not None
        try:
            if outcome.outcome == "denied":
                decision, _ = self.decision(parsed.seq, parsed.aid)
                ends = decision.verdict == "deny"
            else:
                start = record_name("start", seq=parsed.seq, aid=parsed.aid)
                file = self._read(start, self._either)
                ends = file.identity.uid == uid and isinstance(decode_start(file.raw), Start)
        except Unreadable as why:
            why.raise_if_passing()
            ends = False
        if not ends:
            raise self._foreign(name, uid, worded("who did not start the call"))

    def _told(self, name: str, outcome: Outcome) -> bool:
        """Tell whether an outcome repeats who took the approval back: whoever sees that closes."""
        parsed = parse_name(name)
        if outcome.outcome != "withdrawn" or parsed is None or parsed.aid is None:
            return False
        try:
            start = self.start(parsed.seq, parsed.aid)
        except Unreadable as why:
            why.raise_if_passing()
            return False
        return isinstance(start, Revoked) and start.revoked.by == outcome.by

    def _launch(self, name: str) -> Launch:
        file = self._read(
            name, frozenset({self.owner}), who=worded("who cannot start the agent again")
        )
        launch = Launch.decode(file.raw, self._path(name))
        self._refuse_stray(launch, name)
        if launch.by.uid != file.identity.uid:
            raise self._by_another(name, launch.by, worded("started it again"), file.identity.uid)
        parsed = parse_name(name)
        if parsed is None or parsed.n != launch.n:
            raise Unreadable(
                "damaged",
                worded("{name} says that it is start {number}.", name=name, number=str(launch.n)),
                self._path(name),
            )
        return launch

    def _block(self, name: str, envelope: object, seq: int) -> RequestBlock:
        if not isinstance(envelope, dict):
            raise Unreadable(
                "no_envelope",
                worded(
                    "{name} has no readable 'lineclear' part, so it is no request of this store.",
                    name=name,
                ),
                self._path(name),
            )
        block = RequestBlock.of(envelope, self._path(name))
        if block.seq != seq:
            raise Unreadable(
                "request_seq",
                worded("{name} says that it is request {number}.", name=name, number=block.seq),
                self._path(name),
            )
        if block.store_id != self.store_id:
            raise Unreadable(
                "request_store",
                worded("{name} was published in another store.", name=name),
                self._path(name),
            )
        return block

    def _read(
        self, name: str, owners: frozenset[int], max_bytes: int = 16 << 20, who: str = ""
    ) -> FileBytes:
        """Read a record; WHO tells what others are who own one.

        Whatever others put there is theirs, also what is no file or may not be read.
        """
        try:
            return read_file(name, dir_fd=self.dir_fd, owners=owners, max_bytes=max_bytes)
        except Unreadable as why:
            uid = uid_of(name, self._folder, dir_fd=self.dir_fd)
            if uid is not None and uid not in owners:
                raise self._foreign(name, uid, who or worded("who may not write it")) from why
            raise Unreadable(why.code, why.sentence, self._path(name)) from why

    def _refuse_stray(self, record: BoundRecord, name: str) -> None:
        parsed = parse_name(name)
        assert parsed is not None
        assert parsed.aid is not None
        self._refuse_misplaced(record, parsed.aid, name, code="stray")

    def _refuse_misplaced(
        self, record: BoundRecord, aid: str, name: str, *, code: str | None = None
    ) -> None:
        ledger = Ledger(self.store, self.store_id, self.folder)
        misplaced = ledger.misplaced(record, aid, name)
        if misplaced is not None:
            raise Unreadable(code or misplaced[0], misplaced[1], self._path(name))

    def _refuse_operator(self, name: str, uid: int) -> None:
        if self.store_id is not None and uid != self.owner:
            raise self._foreign(name, uid, worded("not the owner of this store"))

    def _by_another(
        self, name: str, by: Person, did: str, uid: int, *, code: str = "by_uid"
    ) -> Unreadable:
        return Unreadable(
            code,
            worded(
                "{name} says that user {uid} {did}, but user {owner} wrote it.",
                name=name,
                uid=by.uid,
                did=did,
                owner=uid,
            ),
            self._path(name),
        )

    def _foreign(self, name: str, uid: int, who: str) -> Unreadable:
        return Unreadable(
            "owner",
            worded(
                "{name} belongs to user {uid}, {who}.", name=visible_line(name), uid=uid, who=who
            ),
            self._path(name),
        )

    @property
    def _folder(self) -> Path:
        return self.store / APPROVALS

    def _path(self, name: str) -> str:
        return str(self._folder / name)
