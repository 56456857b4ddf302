"""The Zarr v3 codec for sorted keys: an ArrayBytes codec around :mod:`storage.keys.gaps`.

It is registered under the entry point group ``zarr.codecs``; a reader with this package installed finds it by name.
Nothing in this program imports it, because it imports Zarr.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from zarr.abc.codec import ArrayBytesCodec
from zarr.core.common import parse_named_configuration
from zarr.registry import register_codec

from storage.keys.gaps import decode, encode
from storage.records import CODEC

if TYPE_CHECKING:
    from zarr.core.array_spec import ArraySpec
    from zarr.core.buffer import Buffer, NDBuffer

NAME = CODEC


@dataclass(frozen=True)
class SortedKeysCodec(ArrayBytesCodec):
    """Gaps, field planes and zstd for one-dimensional arrays of uint64.

    Parameters
    ----------
    field_bits : int
        Low bits of each key that are stored apart from the gaps, 0 to 32.
    """

    is_fixed_size = False

    field_bits: int = 0

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Codec from its entry in the array's metadata."""
        _, configuration = parse_named_configuration(data, NAME, require_configuration=False)
        field_bits: Any = (configuration or {}).get("field_bits", 0)
        return cls(field_bits=int(field_bits))

    def to_dict(self) -> dict[str, Any]:
        """Entry for the array's metadata."""
        return {"name": NAME, "configuration": {"field_bits": self.field_bits}}

    def validate(self, *, shape: tuple[int, ...], dtype: Any, chunk_grid: Any) -> None:
        """Refuse arrays that the codec cannot hold.

        Raises
        ------
        ValueError
        """
        if len(shape) != 1 or dtype.to_native_dtype() != np.dtype(np.uint64):
            raise ValueError(f"the codec {NAME} holds one-dimensional arrays of uint64")

    def _encode_sync(self, chunk_array: NDBuffer, chunk_spec: ArraySpec) -> Buffer:
        keys = np.ascontiguousarray(chunk_array.as_numpy_array(), dtype=np.uint64)
        return chunk_spec.prototype.buffer.from_bytes(encode(keys, self.field_bits))

    def _decode_sync(self, chunk_bytes: Buffer, chunk_spec: ArraySpec) -> NDBuffer:
        keys = np.empty(chunk_spec.shape, dtype=np.uint64)
        decode(chunk_bytes.as_numpy_array(), keys)  # type: ignore[arg-type]
        return chunk_spec.prototype.nd_buffer.from_numpy_array(keys)

    async def _encode_single(self, chunk_array: NDBuffer, chunk_spec: ArraySpec) -> Buffer | None:
        return await asyncio.to_thread(self._encode_sync, chunk_array, chunk_spec)

    async def _decode_single(self, chunk_bytes: Buffer, chunk_spec: ArraySpec) -> NDBuffer:
        return await asyncio.to_thread(self._decode_sync, chunk_bytes, chunk_spec)

    def compute_encoded_size(self, input_byte_length: int, _chunk_spec: ArraySpec) -> int:
        """Not known beforehand.

        Raises
        ------
        NotImplementedError
        """
        raise NotImplementedError


# For those who import this module without having the package installed.
register_codec(NAME, SortedKeysCodec)
