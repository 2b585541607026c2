/**
 * Validates the setup service's monitoring offer (contract 60, agent), because its values become
 * files, paths and schedules.
 */
import { createHash } from 'node:crypto';
import { AgentFailure } from '../exit.js';
import { CRON_EXPRESSION } from './crontab.js';
import { TASK_EXPRESSION_PATTERN } from './task.js';

export interface MonitoringOffer {
  source: string;
  token: string;
  script: { filename: string; content: string };
  schedule: { expression: string };
}

export type Scheduler = 'cron' | 'schtasks';

export const TOKEN_FILE = 'watchdog.token';
const FILENAME_PATTERN = /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,64}$/;
const SOURCE_PATTERN = /^[A-Za-z0-9._:@/-]{1,128}$/;
const TOKEN_PATTERN = /^wd_live_[A-Za-z0-9_-]{1,200}$/;

const createInvalidOfferFailure = (field: string, why: string): AgentFailure =>
  new AgentFailure('unverified', `server response: ${field} ${why}`);

/**
 * @param scheduler of this machine
 * @throws AgentFailure unverified
 */
export function parseOffer(body: Readonly<Record<string, unknown>>, scheduler: Scheduler): MonitoringOffer {
  const object = (field: string): Record<string, unknown> => {
    const value = body[field];
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw createInvalidOfferFailure(field, 'is not an object');
    return { ...value };
  };
  const text = (field: string, value: unknown, pattern: RegExp, why: string): string => {
    if (typeof value !== 'string' || !pattern.test(value)) throw createInvalidOfferFailure(field, why);
    return value;
  };
  const [monitor, script, schedule] = [object('monitor'), object('script'), object('schedule')];
  if (JSON.stringify(body.scopes) !== '["watchdog:ping"]')
    throw createInvalidOfferFailure('scopes', 'must be exactly watchdog:ping');
  const filename = text('script.filename', script.filename, FILENAME_PATTERN, 'is not a valid file name');
  if (filename === TOKEN_FILE) throw createInvalidOfferFailure('script.filename', 'must not be the token file');
  const content = text('script.content', script.content, /^[^\0]+$/, 'is not a string');
  if (createHash('sha256').update(content).digest('hex') !== script.sha256)
    throw createInvalidOfferFailure('script.sha256', 'does not match its content');
  if (schedule.kind !== scheduler) throw createInvalidOfferFailure('schedule.kind', `is not ${scheduler}`);
  const pattern = scheduler === 'cron' ? CRON_EXPRESSION : TASK_EXPRESSION_PATTERN;
  return {
    source: text('monitor.source', monitor.source, SOURCE_PATTERN, 'is not a source'),
    token: text('token', body.token, TOKEN_PATTERN, 'is not a watchdog token'),
    script: { filename, content },
    schedule: {
      expression: text('schedule.expression', schedule.expression, pattern, `is not supported by ${scheduler}`),
    },
  };
}
