/**
 * What a collection sends to the writer, for tests that run a write on a connection of their own.
 */
import { encodeDoc } from '../../../../adapters/sqlite/stored-body.js';
import type { WriteKind, WriteRequest } from '../../../../adapters/sqlite/threads/messages.js';
import type { Doc } from '../../../../ports/store/index.js';

export const requestOf = (kind: WriteKind, collection: string, request: object): WriteRequest =>
  kind === 'insert' || kind === 'put'
    ? [kind, collection, '', [encodeDoc(request as Doc, { compressed: undefined, bytes: undefined })]]
    : [kind, collection, JSON.stringify(request)];
