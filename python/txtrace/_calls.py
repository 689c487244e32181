# SPDX-License-Identifier: MIT
"""The phases of calls."""

CALL_WHOLE = 0  # the call did not wait
CALL_BEGINS = 1  # the thread begins to wait
CALL_ENDS = 2  # the end of a call that waited
