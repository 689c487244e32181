/* SPDX-License-Identifier: MIT */
/* Does nothing: measures the start of a program. */
int main(void)
{
	return 0;
}
