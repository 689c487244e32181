# SPDX-License-Identifier: MIT
# Generates the page txtrace-calls(7) from the tables lib/txtb/txtb-events.def, lib/event/calls.def and preload/wrappers.def,
# given in this order.

BEGIN {
	state[3] = "suspended"
	state[4] = "asleep"
	state[5] = "waiting for a queue"
	state[6] = "waiting for a semaphore"
	state[7] = "waiting for event flags"
	state[12] = "waiting for the network"
	state[13] = "waiting for a mutex"
	title["thread"] = "Threads"
	title["mutex"] = "Mutexes"
	title["spin"] = "Spin locks"
	title["rwlock"] = "Read-write locks"
	title["barrier"] = "Barriers"
	title["once"] = "Once"
	title["cond"] = "Condition variables"
	title["sem"] = "Semaphores"
	title["mq"] = "Message queues"
	title["sleep"] = "Sleep"
	title["process"] = "Processes"
	title["file"] = "Files"
	title["stdio"] = "Stdio streams"
	title["socket"] = "Sockets"
	title["poll"] = "Polling"
	title["heap"] = "The heap"
	title["timer"] = "Timers"
	title["signal"] = "Signals"
	title["futex"] = "Futexes"
	symbols["futex_wait"] = symbols["futex_wake"] = symbols["futex_waitv"] = " syscall"
	symbols["io_uring_enter"] = symbols["io_getevents"] = " syscall"
	title["stack"] = "Stacks"
	title["name"] = "Names"
}

# Splits the current row, which may span several lines, into field[].
function row_of(prefix,   line)
{
	line = $0
	while (line !~ /\)$/ && (getline more) > 0)
		line = line " " more
	sub("^" prefix "\\(", "", line)
	sub(/\)$/, "", line)
	gsub(/[ \t]+/, " ", line)
	n = split(line, field, /, */)
}

/^PX_NATIVE\(/ {
	row_of("PX_NATIVE")
	native[field[1]] = field[2]
}

/^PX_CALL\(/ {
	row_of("PX_CALL")
	call[++nr_calls] = field[1]
	group[nr_calls] = field[2]
	id[nr_calls] = field[5]
	waits[nr_calls] = field[6]
	data[nr_calls] = field[11]
	gsub(/"/, "", data[nr_calls])
}

/^PX_COUNTED\(/ {
	row_of("PX_COUNTED")
	counted[++nr_counted] = field[1]
}

/^PX_WRAPPER\(/ {
	row_of("PX_WRAPPER")
	symbols[field[2]] = symbols[field[2]] " " field[1]
	nr_wrappers++
}

# The names of the fields that the call uses.
function fields_of(text,   n, i, part, list)
{
	n = split(text, part, " ")
	for (i = 1; i <= n; i++) {
		if (part[i] == "-")
			continue
		sub(/:.*/, "", part[i])
		list = list (list == "" ? "" : " , ") part[i]
	}
	return list
}

function print_call(i,   n, k, symbol)
{
	print ".It Va " call[i]
	if (fields_of(data[i]) != "") {
		print "Data:"
		print ".Va " fields_of(data[i]) " ."
	}
	if (id[i] != 0)
		print "TraceX shows it as\n.Dv " native[id[i]] " ."
	if (waits[i] != 0)
		print "While it waits, the thread is " state[waits[i]] "."
	n = split(symbols[call[i]], symbol, " ")
	if (n == 0 || (n == 1 && symbol[1] == call[i]))
		return
	print "Recorded for"
	for (k = 1; k <= n; k++)
		print ".Fn " symbol[k] (k < n ? " ," : " .")
}

END {
	# REUSE-IgnoreStart: this line is for the page.
	print ".\\\" SPDX-License-Identifier: MIT"
	# REUSE-IgnoreEnd
	print ".Dd November 22, 2026\n.Dt TXTRACE-CALLS 7\n.Os posixtrace"
	print ".Sh NAME\n.Nm txtrace-calls\n.Nd calls that the preloaded library records"
	print ".Sh DESCRIPTION"
	print "The library of\n.Xr libtxtrace-preload 7\nrecords calls of programs that do not use posixtrace."
	print "It wraps " nr_wrappers " functions of the C library, and records each call as the event type named here."
	print "A call that waits is two events: one when the wait begins, and one when it ends."
	print ".Ss How calls are counted"
	print "All commands mean the same by a call: one call of a wrapped function that the program made."
	print "A call that waited counts once, although it has two events;"
	print "the second event has the field\n.Va wait\nwith the value\n.Cm ends ."
	print "If the first event was lost, the call does not count."
	print "A call that returns in two processes, as\n.Fn fork\ndoes, is an event of each, and counts in each."
	print "The event types with the prefix\n.Li txtrace_\nare no calls of the program."
	print "For example, the C library unlocks and locks the mutex inside a wait for a condition."
	print "These events are\n.Va txtrace_mutex_unlock\nand\n.Va txtrace_mutex_lock ."
	print ".Pp\nWith\n.Fl -aggregate ,\n.Nm txtrace record\ncounts calls that do not wait instead of recording each of them."
	print "Then an event\n.Va txtrace_calls\nstands for\n.Va calls\ncalls of one function by one thread, with one object and one result."
	print ".Va first_ns\nand\n.Va last_ns\nare the times from the first and from the last of these calls to this event."
	print "All counts of calls include these calls."
	print "These calls can be counted:"
	for (i = 1; i <= nr_counted; i++)
		print ".Va " counted[i] (i < nr_counted ? " ," : " .")
	print ".Pp\n.Nm txtrace report Fl -services\nand\n.Nm txtrace diff\ncount calls;"
	print ".Nm txtrace print\nand the exports have all events."
	print "To count calls there, leave out the second events:"
	print ".Dl txtrace print -f \\(aqpthread_cond_wait not data.wait=ends\\(aq FILE"
	print ".Ss Results"
	print "The field\n.Va result\nholds the result of the call or an error number."
	print "A function of C11 threads returns codes such as\n.Dv thrd_busy ."
	print "The event stores the corresponding error number,\n.Er EBUSY ,\n.Er ENOMEM\nor\n.Er ETIMEDOUT ,"
	print "and 4095 for\n.Dv thrd_error ,\nwhich gives no cause."
	print "The tool prints the code that the function returned."
	print ".Pp\nThe groups are the words of\n.Ev TXTRACE_EVENTS ."
	for (i = 1; i <= nr_calls; i++)
		if (!(group[i] in seen)) {
			seen[group[i]] = 1
			print ".Ss " title[group[i]] "\nGroup\n.Cm " group[i] " .\n.Bl -tag -width Ds"
			for (k = i; k <= nr_calls; k++)
				if (group[k] == group[i])
					print_call(k)
			print ".El"
		}
	print ".Sh SEE ALSO\n.Xr txtrace-print 1 ,\n.Xr libtxtrace-preload 7 ,\n.Xr posixtrace 7"
}
