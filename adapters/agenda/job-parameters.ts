/** A stored job that was taken, as Agenda runs it. */
import { toJobId, type JobParameters } from 'agenda';
import type { JobDoc, Payload } from './job-document.js';

/** Agenda's own watch over `lockedAt` is switched off. */
export const FAR = new Date('9999-12-31T00:00:00.000Z');
/**
 * Due by our own judgement; a time that a clock which is put back could pass again would make Agenda put the job back.
 */
export const DUE = new Date(0);

export function parameters(doc: JobDoc, token: string): JobParameters<Payload> {
  return {
    _id: toJobId(doc.id),
    name: doc.name,
    priority: 0,
    type: doc.repeat === undefined ? 'normal' : 'single',
    nextRunAt: DUE,
    lockedAt: FAR,
    data: { data: doc.data ?? null, retry: doc.retry ?? 0, token },
    ...(doc.repeat === undefined ? {} : { repeatInterval: doc.repeat, repeatTimezone: 'UTC' }),
    ...(doc.fail_count === undefined ? {} : { failCount: doc.fail_count }),
  };
}
