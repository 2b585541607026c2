/** Worker thread that unpacks one release, then ends. It has its own connection to MongoDB. */
import { parentPort, workerData } from 'node:worker_threads';
import { DiskFull, type ReleaseLocation } from '../../../ports/release-store.js';
import { GridFsContents } from './contents.js';
import { GridFsDatabase } from './database.js';

export interface ReleaseUnpackJob {
  url: string;
  place: ReleaseLocation;
}

/** Null when the release is unpacked. */
export type UnpackFailure = { message: string; isFull: boolean } | null;

async function unpack({ url, place }: ReleaseUnpackJob): Promise<UnpackFailure> {
  const database = new GridFsDatabase({ url });
  try {
    await new GridFsContents(database).unpack(place);
    return null;
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    return { message, isFull: error instanceof DiskFull || code === 'ENOSPC' };
  } finally {
    await database.close();
  }
}

parentPort?.postMessage(await unpack(workerData as ReleaseUnpackJob), []);
