import { readFileSync, readlinkSync } from 'node:fs';
import { hash, randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { toIsoString } from '../../lib/time.js';
import type { Clock } from '../../ports/clock.js';

/** Offset of `performance.now` to the system's monotonic milliseconds. */
const MONOTONIC_OFFSET_MS = Number(process.hrtime.bigint() / 1_000_000n) - performance.now();

function getMonotonicEpoch(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return hash('sha256', `${boot} ${readlinkSync('/proc/self/ns/time')}`).slice(0, 16);
  } catch {
    // Without boot id, readings of other processes cannot be compared.
    return randomUUID();
  }
}

export class SystemClock implements Clock {
  readonly epoch = getMonotonicEpoch();

  now(): number {
    return Date.now();
  }

  iso(): string {
    return toIsoString(Date.now());
  }

  monotonic(): number {
    return MONOTONIC_OFFSET_MS + performance.now();
  }
}
