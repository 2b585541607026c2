import { readFileSync, readlinkSync } from 'node:fs';
import { hash, randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { isoOf } from '../../lib/time.js';
import type { Clock } from '../../ports/clock.js';

/**
 * Offset of `performance.now`, which counts from process start, to the system's monotonic
 * milliseconds.
 */
const SYSTEM_MS = Number(process.hrtime.bigint() / 1_000_000n) - performance.now();

function epoch(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return hash('sha256', `${boot} ${readlinkSync('/proc/self/ns/time')}`).slice(0, 16);
  } catch {
    // Without boot id, readings of other processes cannot be compared.
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
