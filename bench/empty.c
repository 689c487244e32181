/* SPDX-License-Identifier: MIT */
/* A program that does nothing, for what starting one costs. */
int main(void)
{
	return 0;
}
