/**
 * Debts in size and in names, and when they were written down. A file, class or name that is on a list may be as it is; what is
 * on none must keep the rule. The lists only become shorter.
 */

/** Lines of a source file. */
export const MOST_LINES = 300;
/** Services that a class is given. */
export const MOST_SERVICES = 8;

/** Written down on 2026-11-24: names that several exported types or classes have. */
export const SHARED_NAMES: ReadonlySet<string> = new Set(['Heartbeat', 'Sink']);
