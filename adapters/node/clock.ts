/** The system's time. Tests use ManualClock (test/kit/clock.ts). */
import { readFileSync, readlinkSync } from 'node:fs';
import { hash, randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { isoOf } from '../../lib/time.js';
import type { Clock } from '../../ports/clock.js';

/** Added to `performance.now`, which counts from the start of the process: milliseconds as the system counts them. */
const SYSTEM_MS = Number(process.hrtime.bigint() / 1_000_000n) - performance.now();

/** On Linux the boot and the time namespace, in which all processes see one monotonic clock; elsewhere this process. */
function epoch(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return hash('sha256', `${boot} ${readlinkSync('/proc/self/ns/time')}`).slice(0, 16);
  } catch {
    // No Linux, or one that hides it: what another process counted cannot be compared, and is not.
    return randomUUID();
  }
}

export class SystemClock implements Clock {
  readonly epoch = epoch();

  now(): number {
    return Date.now();
  }

  iso(): string {
    return isoOf(Date.now());
  }

  monotonic(): number {
    return SYSTEM_MS + performance.now();
  }
}
