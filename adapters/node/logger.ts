/**
 * Every line is redacted. Lines are written asynchronously, so that a slow log reader does not
 * block requests; `flush` waits for them before the process ends.
 */
import { createRequire } from 'node:module';
import { Writable } from 'node:stream';
import pino, { type DestinationStream, type Logger as Pino } from 'pino';
import type { PrettyStream, PrettyOptions } from 'pino-pretty';
import { toPrintableJson } from '../../lib/text/printable.js';
import type { Logger } from '../../ports/logger.js';
import { LogOutput, type LostLines } from './log-output.js';
import { redactLogData, redactSecrets } from './redact.js';

export interface LoggerOptions {
  level: 'debug' | 'info' | 'warn' | 'error' | 'silent';
  destination?: DestinationStream | 'stderr';
  pretty?: boolean;
}

export class PinoLogger implements Logger {
  private constructor(
    private readonly pino: Pino,
    private readonly destination: DestinationStream,
  ) {}

  static create(options: LoggerOptions): PinoLogger {
    const terminal = options.pretty ?? (options.destination === undefined && process.stdout.isTTY);
    const lossListener: { lost: (what: LostLines) => void } = { lost: () => undefined };
    const plain = openDestination(options.destination, terminal, (what) => lossListener.lost(what));
    const stream = terminal
      ? createPrettyStream({
          destination: toWritable(plain),
          colorize: process.stdout.isTTY,
          ignore: 'pid,hostname',
          sync: true,
        })
      : plain;
    // The redaction has already turned errors into plain objects; pino's serializer would merge
    // their causes.
    const serializers = { err: (value: unknown) => value };
    const logger = pino(
      {
        level: options.level,
        base: null,
        timestamp: pino.stdTimeFunctions.isoTime,
        serializers,
        hooks: { streamWrite: terminal ? escapePrettyLine : escapeLine },
      },
      stream,
    );
    lossListener.lost = (what) =>
      logger.warn(what, 'lines of this log were lost, because their consumer did not read them');
    return new PinoLogger(logger, stream);
  }

  debug(data: object, message: string): void {
    if (this.pino.isLevelEnabled('debug')) this.pino.debug(redactLogData(data), redactSecrets(message));
  }

  info(data: object, message: string): void {
    if (this.pino.isLevelEnabled('info')) this.pino.info(redactLogData(data), redactSecrets(message));
  }

  warn(data: object, message: string): void {
    if (this.pino.isLevelEnabled('warn')) this.pino.warn(redactLogData(data), redactSecrets(message));
  }

  error(data: object, message: string): void {
    if (this.pino.isLevelEnabled('error')) this.pino.error(redactLogData(data), redactSecrets(message));
  }

  /** Except at `silent`. */
  withWarnings(): Logger {
    const { level } = this.pino;
    return level === 'error' ? new PinoLogger(this.pino.child({}, { level: 'warn' }), this.destination) : this;
  }

  child(bindings: object): Logger {
    return new PinoLogger(this.pino.child(redactLogData(bindings)), this.destination);
  }

  async flush(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.pino.flush((error) => (error ? reject(error) : resolve()));
    });
  }
}

function openDestination(
  given: LoggerOptions['destination'],
  terminal: boolean,
  lost: (what: LostLines) => void,
): DestinationStream {
  if (typeof given === 'object') return given;
  if (terminal && given === undefined) return process.stdout;
  return LogOutput.open(given === 'stderr' ? 2 : 1, lost);
}

const escapeLine = (line: string): string => `${toPrintableJson(line.slice(0, -1))}\n`;

/** pino-pretty parses the line and prints its texts, so escapes must be escaped themselves. */
const escapePrettyLine = (line: string): string => `${toPrintableJson(line.slice(0, -1), '\\\\u')}\n`;

const createPrettyStream = (options: PrettyOptions): PrettyStream =>
  (createRequire(import.meta.url)('pino-pretty') as (options: PrettyOptions) => PrettyStream)(options);

const toWritable = (stream: DestinationStream): Writable =>
  new Writable({
    write(chunk: Buffer | string, _encoding, done): void {
      stream.write(String(chunk));
      done();
    },
  });
