/** A command of the command line: `aos <name> <action> …`. */
export interface CommandSpec {
  /** One or two words, such as `token create`. */
  name: string;
  summary: string;
  /** Positional arguments, in order; a trailing `?` makes one optional. */
  args?: readonly string[];
  /** Options for `node:util` parseArgs, with their help texts. */
  options?: Record<string, CommandOption>;
  run(call: CommandCall): Promise<CommandResult>;
}

export interface CommandOption {
  type: 'string' | 'boolean';
  summary: string;
  /** Placeholder of the value in the help, such as `seconds|7d`. Default `text`. */
  value?: string;
  required?: boolean;
  default?: string | boolean;
  /** Environment variable that sets the same value; shown in the help. */
  env?: string;
  /** API field that the option sets, if errors use another name than the option. */
  field?: string;
  /** The value may also be given as the first argument. At most one option. */
  positional?: boolean;
  /** One letter: `f` for `-f`. */
  short?: string;
  /**
   * May be given several times, and arguments are further values. All values are in `args`. At most
   * one option of a command without arguments.
   */
  repeatable?: boolean;
}

export interface CommandCall {
  args: readonly string[];
  options: Readonly<Record<string, string | boolean | undefined>>;
  /** Reads all of standard input (for `--password-stdin`). */
  stdin(): Promise<string>;
  /**
   * Reads the text file that an argument names, at most 16 MiB. Absent without a command line.
   * @throws ServiceError validation_failed when it cannot be read
   */
  read?(path: string): Promise<string>;
  /**
   * Reads the rows of these tables of an SQLite file, by table; missing tables are omitted. Returns
   * null for other files. Absent without a command line.
   * @throws ServiceError validation_failed when it cannot be read
   */
  readTables?(path: string, tables: readonly string[]): Promise<Record<string, Record<string, unknown>[]> | null>;
  /** Shows the progress of a long command. Absent without a command line. */
  progress?(line: string): void;
}

/** Result of a command: `json` is the document that `--json` prints, `text` is for the user. */
export interface CommandResult {
  json: object;
  text: string;
  /** Default 0. */
  exit?: number;
}
