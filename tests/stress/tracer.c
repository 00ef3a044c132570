/* Stops a child at the entry and the exit of every system call and asks a callback what to do.
 *
 * Built as a shared library at test time:  cc -O2 -shared -fPIC -o tracer.so tracer.c
 * The child calls be_traced() right after the fork; its parent calls follow() on the same thread.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

/* A negative answer: fail the call with that errno. SKIP: do not do it and say that it is done. */
enum { GO_ON = 0, KILL = 1, SKIP = 2 };

struct moment {
    uint8_t op; /* PTRACE_SYSCALL_INFO_ENTRY or _EXIT */
    uint8_t pad[3];
    uint32_t arch;
    uint64_t ip, sp;
    union {
        struct { uint64_t number, arguments[6]; } entry;
        struct { int64_t value; uint8_t is_error; } leave;
        uint64_t room[16];
    } u;
};

typedef int (*ask)(int entering, long number, const uint64_t *arguments, int64_t value);

void be_traced(void) {
    ptrace(PTRACE_TRACEME, 0, 0, 0);
    raise(SIGSTOP);
}

/* Makes the kernel skip the call at whose entry the child stands. */
static int skip_call(pid_t child) {
#if defined(__x86_64__)
    struct user_regs_struct registers;
    if (ptrace(PTRACE_GETREGS, child, 0, &registers)) return -1;
    registers.orig_rax = (unsigned long long)-1;
    return (int)ptrace(PTRACE_SETREGS, child, 0, &registers);
#elif defined(__aarch64__)
    int none = -1;
    struct iovec part = {&none, sizeof none};
    return (int)ptrace(PTRACE_SETREGSET, child, (void *)NT_ARM_SYSTEM_CALL, &part);
#else
#error "no register layout for this processor"
#endif
}

/* Puts a value where the child finds the call's result. */
static int put_result(pid_t child, int64_t value) {
    struct user_regs_struct registers;
    struct iovec whole = {&registers, sizeof registers};
    if (ptrace(PTRACE_GETREGSET, child, (void *)NT_PRSTATUS, &whole)) return -1;
#if defined(__x86_64__)
    registers.rax = (unsigned long long)value;
#else
    registers.regs[0] = (unsigned long long)value;
#endif
    return (int)ptrace(PTRACE_SETREGSET, child, (void *)NT_PRSTATUS, &whole);
}

/* Follows CHILD to its end; gives its wait status, or -1 with errno. */
int follow(pid_t child, ask decide) {
    int status, replaced = 0;
    int64_t result = 0;
    long number = -1;
    uint64_t arguments[6] = {0};

    if (waitpid(child, &status, 0) != child) return -1;
    if (!WIFSTOPPED(status)) return status;
    if (ptrace(PTRACE_SETOPTIONS, child, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL)) return -1;
    for (int signal = 0;;) {
        if (ptrace(PTRACE_SYSCALL, child, 0, (long)signal) && errno != ESRCH) return -1;
        if (waitpid(child, &status, 0) != child) return -1;
        if (!WIFSTOPPED(status)) return status;
        signal = WSTOPSIG(status);
        if (signal != (SIGTRAP | 0x80)) {
            if (signal == SIGTRAP || signal == SIGSTOP) signal = 0;
            continue;
        }
        signal = 0;
        struct moment now;
        if (ptrace(PTRACE_GET_SYSCALL_INFO, child, (void *)sizeof now, &now) < 0) {
            if (errno == ESRCH) continue;
            return -1;
        }
        int entering = now.op == 1, answer;
        if (entering) {
            number = (long)now.u.entry.number;
            for (int i = 0; i < 6; i++) arguments[i] = now.u.entry.arguments[i];
            answer = decide(1, number, arguments, 0);
            if (answer != GO_ON && skip_call(child)) return -1;
            replaced = answer < 0 || answer == SKIP;
            result = answer < 0 ? answer : 0;
        } else if (replaced) {
            if (put_result(child, result)) return -1;
            replaced = 0;
            answer = GO_ON;
        } else {
            answer = decide(0, number, arguments, now.u.leave.value);
        }
        if (answer == KILL) kill(child, SIGKILL);
    }
}
