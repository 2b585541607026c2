/**
 * Validates the setup service's monitoring offer (contract 60, agent), because its values become
 * files, paths and schedules.
 */
import { createHash } from 'node:crypto';
import { AgentFailure } from '../exit.js';
import { CRON_EXPRESSION } from './crontab.js';
import { TASK_EXPRESSION } from './task.js';

export interface MonitoringOffer {
  source: string;
  token: string;
  script: { filename: string; content: string };
  schedule: { expression: string };
}

export type Scheduler = 'cron' | 'schtasks';

export const TOKEN_FILE = 'watchdog.token';
const FILENAME = /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,64}$/;
const SOURCE = /^[A-Za-z0-9._:@/-]{1,128}$/;
const TOKEN = /^wd_live_[A-Za-z0-9_-]{1,200}$/;

const lie = (field: string, why: string): AgentFailure =>
  new AgentFailure('unverified', `the server’s answer: ${field} ${why}`);

/**
 * Parses and validates an offer.
 * @param scheduler of this machine
 * @throws AgentFailure unverified
 */
export function readOffer(body: Readonly<Record<string, unknown>>, scheduler: Scheduler): MonitoringOffer {
  const object = (field: string): Record<string, unknown> => {
    const value = body[field];
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw lie(field, 'is no object');
    return { ...value };
  };
  const text = (field: string, value: unknown, pattern: RegExp, why: string): string => {
    if (typeof value !== 'string' || !pattern.test(value)) throw lie(field, why);
    return value;
  };
  const [monitor, script, schedule] = [object('monitor'), object('script'), object('schedule')];
  if (JSON.stringify(body.scopes) !== '["watchdog:ping"]') throw lie('scopes', 'is not exactly watchdog:ping');
  const filename = text('script.filename', script.filename, FILENAME, 'is no file name');
  if (filename === TOKEN_FILE) throw lie('script.filename', 'is the file of the token');
  const content = text('script.content', script.content, /^[^\0]+$/, 'is no text');
  if (createHash('sha256').update(content).digest('hex') !== script.sha256)
    throw lie('script.sha256', 'is not the one of its content');
  if (schedule.kind !== scheduler) throw lie('schedule.kind', `is not ${scheduler}`);
  const pattern = scheduler === 'cron' ? CRON_EXPRESSION : TASK_EXPRESSION;
  return {
    source: text('monitor.source', monitor.source, SOURCE, 'is no source'),
    token: text('token', body.token, TOKEN, 'is no token of the watchdog'),
    script: { filename, content },
    schedule: { expression: text('schedule.expression', schedule.expression, pattern, `is nothing for ${scheduler}`) },
  };
}
