/** What a plugin adds to the command line. */

/** A command of the command line: `aos <name> <action> …`. */
export interface CommandSpec {
  /** `token create`: one or two words. */
  name: string;
  summary: string;
  /** Positional arguments, in order; a trailing `?` makes one optional. */
  args?: readonly string[];
  /** Options as `node:util` parseArgs takes them, with the text for the help. */
  options?: Record<string, CommandOption>;
  run(call: CommandCall): Promise<CommandResult>;
}

export interface CommandOption {
  type: 'string' | 'boolean';
  summary: string;
  /** Placeholder of the value in the help: `seconds|7d`. Default `text`. */
  value?: string;
  required?: boolean;
  default?: string | boolean;
  /** Environment variable that sets the same; named in the help. */
  env?: string;
  /** Field of the interface that it sets, where errors name another one than the option. */
  field?: string;
  /** It may be given as the first argument too, without its name. One option at most. */
  positional?: boolean;
}

export interface CommandCall {
  args: readonly string[];
  options: Readonly<Record<string, string | boolean | undefined>>;
  /** Standard input, whole (for `--password-stdin`). */
  stdin(): Promise<string>;
  /**
   * The text of a file that an argument names, at most 16 MiB; absent where a command is run without a command line.
   * @throws ServiceError validation_failed when it cannot be read
   */
  read?(path: string): Promise<string>;
  /**
   * Reads the rows of these tables of an SQLite file, by table; tables that it lacks are left out.
   * Null when the file is not an SQLite database. Not set when a command runs without a command
   * line.
   * @throws ServiceError validation_failed when it cannot be read
   */
  readTables?(path: string, tables: readonly string[]): Promise<Record<string, Record<string, unknown>[]> | null>;
  /** Shows how far a long command is; absent where a command is run without a command line. */
  progress?(line: string): void;
}

/** `json` is the one document that `--json` prints; `text` is what a person reads. */
export interface CommandResult {
  json: object;
  text: string;
  /** Default 0. */
  exit?: number;
}
