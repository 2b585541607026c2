/**
 * Hashed source: a heartbeat finds its monitor by primary key, concurrent first heartbeats meet in
 * one document, and the id is safe in public URLs.
 */
import { createHash } from 'node:crypto';

const MONITOR_ID_PATTERN = /^mon_[0-9a-f]{32}$/;

export const getMonitorId = (source: string): string =>
  `mon_${createHash('sha256').update(source).digest('hex').slice(0, 32)}`;

export const isMonitorId = (text: string): boolean => MONITOR_ID_PATTERN.test(text);
