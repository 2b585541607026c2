/**
 * A copy of the store's file as it is at one moment, while others write (contract 95, command line). It is read page by
 * page within one read transaction: writers go on, and what they write stays in the log until the end. Rejected:
 * `VACUUM INTO`, one statement at full speed that nothing can pause, and which promises nothing about the row numbers
 * that look-ups use.
 */
import { statSync } from 'node:fs';
import { openDriver } from '../driver/open.js';

/** The copy pauses while the log is smaller than this, and goes on at full speed when the log has grown beyond. */
const HURRY_BYTES = 256 * 1024 * 1024;
/** Pauses take three quarters of the time. */
const PAUSE = 3;
const LONGEST_PAUSE_MS = 100;
const BUSY_MS = 15_000;

/** @param to must not be there @throws what SQLite says; a file that is there then is not whole */
export async function copyStore(from: string, to: string): Promise<void> {
  // SQLite would make an empty store where there is none.
  statSync(from);
  const driver = openDriver(from);
  try {
    driver.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
    driver.exec('BEGIN');
    // SQLite begins a transaction with its first reading.
    driver.prepare('SELECT count(*) FROM sqlite_master').get([]);
    await driver.copyTo(to, pauses(`${from}-wal`));
    driver.exec('COMMIT');
  } finally {
    driver.close();
  }
}

/** Reads one document of a store's file, which stays as it is. Null: there is none. */
export function readDocument(file: string, collection: string, id: string): unknown {
  const driver = openDriver(file);
  try {
    driver.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
    if (driver.prepare('SELECT 1 FROM sqlite_master WHERE name = ?').get([collection]) === undefined) return null;
    const row = driver.prepare(`SELECT body FROM "${collection}" WHERE id = ?`).get([id]);
    return row === undefined ? null : JSON.parse(String(row[0]));
  } finally {
    driver.close();
  }
}

/** Called between two portions. This thread does nothing else, so it may sleep. */
function pauses(log: string): () => void {
  const never = new Int32Array(new SharedArrayBuffer(4));
  let began = performance.now();
  return () => {
    const took = performance.now() - began;
    if (sizeOf(log) < HURRY_BYTES) Atomics.wait(never, 0, 0, Math.min(took * PAUSE, LONGEST_PAUSE_MS));
    began = performance.now();
  };
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
