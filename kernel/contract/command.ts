/** A command: `aos <name> <action> …`. */
export interface CommandSpec {
  name: string;
  summary: string;
  /** A trailing `?` makes one optional. */
  args?: readonly string[];
  options?: Record<string, CommandOption>;
  run(call: CommandCall): Promise<CommandResult>;
}

export interface CommandOption {
  type: 'string' | 'boolean';
  summary: string;
  /** Default `text`. */
  value?: string;
  required?: boolean;
  default?: string | boolean;
  /** Variable for the same value. */
  env?: string;
  /** API field, if errors use another name. */
  field?: string;
  /** The value may also be given as the first argument. */
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
  stdin(): Promise<string>;
  /**
   * Reads the text file that an argument names, at most 16 MiB.
   * @throws ServiceError validation_failed when it cannot be read
   */
  read?(path: string): Promise<string>;
  /**
   * Rows by table; missing tables are omitted. Null for other files.
   * @throws ServiceError validation_failed when it cannot be read
   */
  readTables?(path: string, tables: readonly string[]): Promise<Record<string, Record<string, unknown>[]> | null>;
  /** Shows the progress of a long command. */
  progress?(line: string): void;
}

/** Result of a command: `json` is the document that `--json` prints, `text` is for the user. */
export interface CommandResult {
  json: object;
  text: string;
  /** Default 0. */
  exit?: number;
}
