/** Answers reading requests, one after the other, on a connection of its own. */
import { Connection, type ConnectionOptions } from '../connection/connection.js';
import { outcomeOf, type Outcome, type ReadRequest } from '../threads/messages.js';
import type { Answers } from '../threads/serve.js';
import { located } from './located.js';
import { PageRenderer } from './page-renderer.js';
import { performRead } from './reads.js';

function answer(
  connection: Connection,
  renderer: PageRenderer,
  [kind, name, text]: ReadRequest,
): [Outcome] | Promise<[Outcome]> {
  if (kind === 'render') {
    return renderer.page(name, text).then(
      (value) => [{ value }],
      (error: unknown) => [outcomeOf(located(connection, name, error), name)],
    );
  }
  try {
    return [{ value: performRead(connection, [kind, name, text]) }];
  } catch (error) {
    return [outcomeOf(located(connection, name, error), name)];
  }
}

/** @throws SQLite's error when the file cannot be opened */
export function answering(options: ConnectionOptions): Answers<ReadRequest> {
  const connection = new Connection(options);
  const renderer = new PageRenderer(connection);
  return {
    // One at a time (`most`).
    answer: ([request]) => answer(connection, renderer, request as ReadRequest),
    close: () => connection.close(),
    most: 1,
  };
}
