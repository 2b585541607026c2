/** Writes of the seeds: into the embedded store of a stopped service, past its threads. */
import type { Connection } from '../../adapters/sqlite/connection/connection.js';
import { textOf } from '../../adapters/sqlite/body/stored-body.js';
import { performWrite } from '../../adapters/sqlite/writing/perform.js';
import type { Doc } from '../../ports/store.js';

/** A new document, within a transaction. */
export function put(connection: Connection, collection: string, doc: Doc): void {
  performWrite(connection, ['insert', collection, '', [textOf(doc, undefined)]]);
}
