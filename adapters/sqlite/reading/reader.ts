import { Connection, type ConnectionOptions } from '../connection/connection.js';
import { checkFormatVersion } from '../schema/format.js';
import type { RequestService } from '../threads/executor.js';
import { toOutcome, type RequestOutcome, type ReadRequest } from '../threads/messages.js';
import { StoreExaminer } from './examination.js';
import { locateDamage } from './damage-locator.js';
import { performRead } from './read-requests.js';

/** @throws SQLite's error when the file cannot be opened */
export function openReader(options: ConnectionOptions): RequestService<ReadRequest> {
  const connection = new Connection(options);
  checkFormatVersion(connection);
  let steps: ReturnType<StoreExaminer['runSteps']> | null = null;
  const answer = ([kind, name, text]: ReadRequest): RequestOutcome => {
    try {
      if (kind !== 'examine') return { value: performRead(connection, [kind, name, text]) };
      steps ??= new StoreExaminer(connection).runSteps();
      return { value: steps.next().value ?? null };
    } catch (error) {
      return kind === 'examine' ? toOutcome(error) : toOutcome(locateDamage(connection, name, error), name);
    }
  };
  return { answer: (requests) => requests.map(answer), close: () => connection.close(), most: 1 };
}
