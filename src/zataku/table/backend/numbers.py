"""Numbers of a table: decimals of at most 38 digits, never rounded, and their sortable encoding."""

from decimal import Context, Decimal, Inexact

from zataku.table.backend.errors import BadNumber
from zataku.table.backend.limits import NUMBER_DIGITS, NUMBER_LARGEST_EXPONENT, NUMBER_SMALLEST_EXPONENT

Number = int | Decimal

_FAST_INT_LIMIT = 10**NUMBER_DIGITS
_EXACT = Context(prec=NUMBER_DIGITS, traps=[Inexact], Emax=999_999, Emin=-999_999)
# Wide enough for the sum of the largest and the smallest number, so that adding never rounds.
_WIDE = Context(prec=NUMBER_LARGEST_EXPONENT - NUMBER_SMALLEST_EXPONENT + NUMBER_DIGITS + 2)
_MAX_SIZE = 21
# 2**16 exponents are far more than the 256 a table allows; the offset keeps the two bytes positive.
_EXPONENT_OFFSET = 0x8000


def canonical(number: float | Decimal) -> Number:
    """The number as a table stores it: an int when it is whole, else a Decimal without trailing zeros."""
    if type(number) is int and -_FAST_INT_LIMIT < number < _FAST_INT_LIMIT:
        return number
    exact = Decimal(repr(number)) if isinstance(number, float) else Decimal(number)
    if not exact.is_finite():
        raise BadNumber(f"{number} is not a number that a table can hold. Use a finite number.")
    if not exact:
        return 0
    if not NUMBER_SMALLEST_EXPONENT <= exact.adjusted() <= NUMBER_LARGEST_EXPONENT:
        raise BadNumber(f"{exact:.6E} is outside 1E-130 to 9.9E+125, the range a table can hold. Scale it first.")
    try:
        exact = exact.normalize(_EXACT)
    except Inexact:
        raise BadNumber(f"{exact} has more than {NUMBER_DIGITS} digits. Round it first.") from None
    return int(exact) if exact == exact.to_integral_value() else exact


def added(left: Number, right: Number) -> Number:
    """The exact sum; raises `BadNumber` where it would have to be rounded."""
    if type(left) is int and type(right) is int:
        return canonical(left + right)
    return canonical(_WIDE.add(Decimal(left), Decimal(right)))


def sortable(number: Number) -> bytes:
    """Bytes whose order is the order of the numbers."""
    if not number:
        return b"\x80"
    sign, digits, exponent = Decimal(number).as_tuple()
    assert isinstance(exponent, int)
    # d.ddd x 10^magnitude; two digits a byte, shifted by one so that the end (0) sorts before any digit.
    magnitude = exponent + len(digits) - 1 + _EXPONENT_OFFSET
    text = "".join(map(str, digits)).rstrip("0")
    text += "0" * (len(text) % 2)
    body = magnitude.to_bytes(2, "big") + bytes(int(text[at : at + 2]) + 1 for at in range(0, len(text), 2))
    if not sign:
        return b"\xc0" + body
    return b"\x40" + bytes(255 - byte for byte in body) + b"\xff"


def size_of(number: Number) -> int:
    """Bytes that DynamoDB counts for the number: two digits a byte, and one or two more.

    AWS documents "approximately (1 byte per two significant digits) + (1 byte)", without leading and trailing zeros.
    What it leaves open follows measured sizes, where 15 takes a byte less than 1.5: digits pair up from the decimal
    point, and a minus is one byte more. -417591E+117 is -4|17|59|10 with zeros behind it: 4 + 1 + 1 bytes. Where that
    is not what the service counts, it is a byte too many, so that no item passes here which is too large there.
    """
    if not number:
        return 1
    sign, digits, exponent = Decimal(number).as_tuple()
    assert isinstance(exponent, int)
    text = "".join(map(str, digits)).rstrip("0")
    trailing = len(digits) - len(text)
    # Digits pair up from the decimal point, so an odd exponent may need a byte more.
    places = len(text) + ((exponent + trailing) % 2)
    return min((places + 1) // 2 + 1 + sign, _MAX_SIZE)
