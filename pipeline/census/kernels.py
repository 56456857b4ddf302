"""How the kernels of the census are compiled."""

from __future__ import annotations

from functools import partial

import numba

# They make no arrays, so none of them has to count references to arrays. With counting (atomic, at every call that is
# given an array) a third of the time of the pruned search went there. The flag is numba's own, for its helpers.
kernel = partial(numba.njit, nogil=True, cache=True, _nrt=False)
