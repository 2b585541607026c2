/**
 * Copies page by page within one read transaction while others write (contract 95, command line);
 * new writes stay in the log until the end.
 */
import { statSync } from 'node:fs';
import { openDriver } from '../driver/open.js';

/** The copy pauses while the log is smaller than this; beyond, it runs at full speed. */
const FULL_SPEED_LOG_BYTES = 256 * 1024 * 1024;
const PAUSE_RATIO = 3;
const MAX_PAUSE_MS = 100;
const BUSY_TIMEOUT_MS = 15_000;

/**
 * @param to must not exist
 * @throws SQLite's error; the file is then incomplete
 */
export async function copyStore(from: string, to: string): Promise<void> {
  // SQLite would create a missing file.
  statSync(from);
  const driver = openDriver(from);
  try {
    driver.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    driver.exec('BEGIN');
    // SQLite starts the transaction with the first read.
    driver.prepare('SELECT count(*) FROM sqlite_master').get([]);
    await driver.copyTo(to, createPause(`${from}-wal`));
    driver.exec('COMMIT');
  } finally {
    driver.close();
  }
}

/** @returns null when it does not exist */
export function readDocument(file: string, collection: string, id: string): unknown {
  const driver = openDriver(file);
  try {
    driver.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    if (driver.prepare('SELECT 1 FROM sqlite_master WHERE name = ?').get([collection]) === undefined) return null;
    const row = driver.prepare(`SELECT body FROM "${collection}" WHERE id = ?`).get([id]);
    return row === undefined ? null : JSON.parse(String(row[0]));
  } finally {
    driver.close();
  }
}

function createPause(log: string): () => void {
  const never = new Int32Array(new SharedArrayBuffer(4));
  let began = performance.now();
  return () => {
    const took = performance.now() - began;
    if (getFileSize(log) < FULL_SPEED_LOG_BYTES) Atomics.wait(never, 0, 0, Math.min(took * PAUSE_RATIO, MAX_PAUSE_MS));
    began = performance.now();
  };
}

function getFileSize(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
