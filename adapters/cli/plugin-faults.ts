/**
 * Handles errors that plugins throw outside of a call, such as in a timer: they fail the plugin
 * instead of ending the process.
 */
import { recordThrown, type Service } from '../../config/compose/compose.js';
import { EXIT } from './output.js';

let isWatching = false;
let current: Service | null = null;

/**
 * Must be called before plugins are loaded.
 * @returns a function that receives the service once it exists
 */
export function outlivePlugins(): (service: Service) => Service {
  if (!isWatching) process.on('uncaughtException', handle);
  isWatching = true;
  return (service) => (current = service);
}

function handle(error: unknown): void {
  if (current === null ? recordThrown(error) : current.survive(error)) return;
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exit(EXIT.error);
}
