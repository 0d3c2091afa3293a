"""Writes that request, finish and keep analyses, and the compression of results."""

import zlib
from base64 import b64decode, b64encode
from typing import Final

from zataku.kifu.design import kifu_table
from zataku.kifu.entities import Analysis, KeptAnalysis, SlugClaim
from zataku.kifu.errors import InvalidChange, NotOwner
from zataku.kifu.limits import (
    ANALYSIS_SECONDS,
    RESPONSE_BYTES,
    AnalysisId,
    AnalysisKey,
    Finished,
    KifuId,
    KifuKey,
    NamedUser,
    Request,
    Response,
    UserName,
    check_bytes,
)
from zataku.kifu.writes.records import claim_key, claim_unchanged
from zataku.table import Budget, Instant, Plan, check, parse_instant, path, put, update

COMPRESSED_PREFIX: Final = "zlib:"
MAX_RESULT_BYTES: Final = 4 * 1024 * 1024
"""Largest result before compression; a larger one is neither compressed nor decompressed."""

status = path(Analysis, lambda analysis: analysis.status)
response = path(Analysis, lambda analysis: analysis.response)
expired = path(Analysis, lambda analysis: analysis.expired)
FINISHED = Analysis(
    analysis_id=AnalysisId("fdjsklfadf"),
    username=UserName("h-akira"),
    created="2025-12-31T11:11:31Z",
    status="succeeded",
    response="{}",
    kifu_id=KifuId("fdsaj9d9s0"),
)
NOW = {"now": "2025-12-31T11:11:31Z"}
CLAIM = SlugClaim(username=FINISHED.username, slug="社団戦/2025/鈴木", kifu_id=KifuId("fdsaj9d9s0"))


@kifu_table.write(budget=Budget(writes=4), example=NOW)
def request_analysis(
    analysis_id: AnalysisKey,
    username: NamedUser,
    now: Instant,
    kifu_id: KifuKey | None = None,
    request: Request | None = None,
) -> Plan[Analysis]:
    """Request an analysis for a user. It waits for an engine for at most a day."""
    requested = Analysis(
        analysis_id=analysis_id,
        username=username,
        created=now,
        status="waiting",
        expired=parse_instant(now) + ANALYSIS_SECONDS,
        kifu_id=kifu_id,
        request=request,
    )
    return Plan(put(requested, if_absent=True))


@kifu_table.write(budget=Budget(writes=60, of="a result of 20 KB"), example=NOW)
def finish_analysis(analysis_id: AnalysisKey, outcome: Finished, result: Response, now: Instant) -> Plan[Analysis]:
    """Store the outcome of an analysis, once. It expires after a day."""
    check_bytes(result, RESPONSE_BYTES, "The result of the analysis")
    return Plan(
        update(
            Analysis.key(analysis_id=analysis_id),
            status.set(outcome),
            response.set(result),
            expired.set(parse_instant(now) + ANALYSIS_SECONDS),
            when=status.equals("waiting"),
        )
    )


@kifu_table.write(budget=Budget(writes=62, of="a result of 20 KB"), example={"analysis": FINISHED, "claim": CLAIM})
def keep_result(analysis: Analysis, claim: SlugClaim, now: Instant) -> Plan[KeptAnalysis]:
    """Keep a result with its record, if the record exists. A finished analysis never changes."""
    if (analysis.username, analysis.kifu_id) != (claim.username, claim.kifu_id):
        raise NotOwner("The analysis is of another record. Keep it with that record.")
    if analysis.status != "succeeded" or analysis.response is None:
        raise InvalidChange("The analysis has no result to keep. Wait until it has succeeded.")
    kept = KeptAnalysis(
        kifu_id=claim.kifu_id, analysis_id=analysis.analysis_id, response=analysis.response, kept_at=now
    )
    return Plan(put(kept, if_absent=True), check(claim_key(claim), claim_unchanged(claim)))


def compress_result(result: str) -> Response:
    """The result, compressed where that is shorter. Raises ValueError when it exceeds the limit even then."""
    check_bytes(result, MAX_RESULT_BYTES, "The result of the analysis before it is compressed")
    compressed = COMPRESSED_PREFIX + b64encode(zlib.compress(result.encode(), 9)).decode()
    response = compressed if len(compressed) < len(result.encode()) or result.startswith(COMPRESSED_PREFIX) else result
    check_bytes(response, RESPONSE_BYTES, "The result of the analysis")
    return response


def decompress_result(response: Response) -> str:
    """The result as the engine wrote it."""
    if not response.startswith(COMPRESSED_PREFIX):
        return response
    decompressor = zlib.decompressobj()
    result = decompressor.decompress(b64decode(response[len(COMPRESSED_PREFIX) :], validate=True), MAX_RESULT_BYTES)
    if not decompressor.eof:
        raise ValueError("The result of the analysis is truncated or larger than the limit.")
    return result.decode()
