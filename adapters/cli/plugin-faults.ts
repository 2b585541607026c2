/**
 * Handles errors that plugins throw outside of a call, such as in a timer: they fail the plugin
 * instead of ending the process.
 */
import { recordEarlyError } from '../../kernel/loading/error-attribution.js';
import type { ComposedService } from './composition.js';
import { EXIT_CODES } from './output.js';

let isWatching = false;
let currentService: ComposedService | null = null;

/**
 * Must be called before plugins are loaded.
 * @returns a function that receives the service once it exists
 */
export function handlePluginErrors(): (service: ComposedService) => ComposedService {
  if (!isWatching) process.on('uncaughtException', handleError);
  isWatching = true;
  return (service) => (currentService = service);
}

function handleError(error: unknown): void {
  if (currentService === null ? recordEarlyError(error) : currentService.handleUncaught(error)) return;
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exit(EXIT_CODES.error);
}
