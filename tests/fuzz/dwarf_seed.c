/* SPDX-License-Identifier: MIT */
/* The types of the seeds for tests/fuzz/dwarf.c.  It includes no header, so that the debugging information is small. */
typedef enum { IDLE, BUSY = 3, LOST = -2 } state_t;
struct letter {
	short from;
	char text[];
};
union any {
	long number;
	double real;
	unsigned char bytes[8];
};
typedef struct goods {
	int id;
	double load;
	state_t state;
	union any any[2][2];
	unsigned low : 5, high : 11;
	_Bool urgent;
	char name[24];
	struct {
		float part;
	};
	struct goods *next;
} goods_t;
goods_t goods;
struct letter letter;
