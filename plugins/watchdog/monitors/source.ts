/**
 * A monitor's source, and the ids that follow from it. The id is a hash of the source, so that a heartbeat finds its
 * monitor by primary key, two first heartbeats meet in one document, and the id is safe in paths that people share.
 */
import { createHash } from 'node:crypto';

/** 1 to 128 characters, without `.` or `..` as a segment; case-sensitive (contract 30, heartbeat). */
export const SOURCE = /^(?!(?:.*\/)?\.{1,2}(?:\/|$))[A-Za-z0-9._:@/-]{1,128}$/;
const ID = /^mon_[0-9a-f]{32}$/;

export const idOf = (source: string): string => `mon_${createHash('sha256').update(source).digest('hex').slice(0, 32)}`;

export const looksLikeId = (text: string): boolean => ID.test(text);
