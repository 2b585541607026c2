/** Whether the definition of a job can be kept. */
import type { JobSpec } from '../../ports/jobs.js';

const MAX_MS = 2 ** 31 - 1;
const NAME = /^[a-z][a-z0-9_.-]{0,99}$/;

/** Milliseconds, or a cron expression; undefined: it runs when it is enqueued. */
export const repeatOf = (spec: JobSpec): number | string | undefined => spec.everyMs ?? spec.cron;

/** @param next throws on a cron expression that cannot be read @throws TypeError that names the job */
export function checkSpec({ name, everyMs, cron, timeoutMs }: JobSpec, next: (cron: string) => unknown): void {
  const refuse = (problem: string): never => {
    throw new TypeError(`job ${name}: ${problem}`);
  };
  const ms = (value: number): boolean => Number.isInteger(value) && value > 0 && value <= MAX_MS;
  if (!NAME.test(name)) refuse('the name must be lower case letters, digits, dots, hyphens and underscores');
  if (everyMs !== undefined && cron !== undefined) refuse('has both everyMs and cron');
  if (everyMs !== undefined && !ms(everyMs)) refuse('everyMs must be a positive number of milliseconds');
  if (timeoutMs !== undefined && !ms(timeoutMs)) refuse('timeoutMs must be a positive number of milliseconds');
  if (cron === undefined) return;
  if (cron.trim().split(/\s+/).length !== 5) refuse('cron must have five fields');
  try {
    next(cron);
  } catch (error) {
    refuse(`cron cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}
