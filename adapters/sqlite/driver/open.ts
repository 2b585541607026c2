/**
 * Opens `node:sqlite` where Node has it, otherwise `libsql`
 * (docs/decisions/004-libsql-on-node-20.md).
 */
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { openLibsql } from './libsql.js';
import { openNodeSqlite, type NodeSqlite } from './node.js';
import type { Driver } from './driver.js';

export function openDriver(path: string): Driver {
  const node = loadNodeSqlite();
  return node ? openNodeSqlite(node, path) : openLibsql(path);
}

export function openReadOnly(path: string): Driver {
  const node = loadNodeSqlite();
  return node ? openNodeSqlite(node, path, { readOnly: true }) : openLibsql(`${pathToFileURL(path).href}?mode=ro`);
}

/** Suppresses its experimental warning, which would be in every log. */
function loadNodeSqlite(): NodeSqlite | undefined {
  const emit = process.emitWarning.bind(process);
  process.emitWarning = () => undefined;
  try {
    return createRequire(import.meta.url)('node:sqlite') as NodeSqlite;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_UNKNOWN_BUILTIN_MODULE') return undefined;
    throw error;
  } finally {
    process.emitWarning = emit;
  }
}
