import { Connection, type ConnectionOptions } from '../connection/connection.js';
import { checkFormat } from '../schema/format.js';
import type { RequestService } from '../threads/executor.js';
import { outcomeOf, type Outcome, type ReadRequest } from '../threads/messages.js';
import { Examination } from './examination.js';
import { located } from './located.js';
import { performRead } from './reads.js';

/** @throws SQLite's error when the file cannot be opened */
export function openReader(options: ConnectionOptions): RequestService<ReadRequest> {
  const connection = new Connection(options);
  checkFormat(connection);
  let steps: ReturnType<Examination['steps']> | null = null;
  const answer = ([kind, name, text]: ReadRequest): Outcome => {
    try {
      if (kind !== 'examine') return { value: performRead(connection, [kind, name, text]) };
      steps ??= new Examination(connection).steps();
      return { value: steps.next().value ?? null };
    } catch (error) {
      return kind === 'examine' ? outcomeOf(error) : outcomeOf(located(connection, name, error), name);
    }
  };
  return { answer: (requests) => requests.map(answer), close: () => connection.close(), most: 1 };
}
