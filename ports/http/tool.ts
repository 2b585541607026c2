/** Exposes a route as a tool for agents (`/mcp`). Argument names are unique within a route. */
export interface ToolSpec {
  /** Lower case, unique among all plugins: `claim`. */
  name: string;
  /** Title for users. */
  title?: string;
  /** Instructions for the model: purpose, when to use it, result. */
  description: string;
  /** Changes nothing. */
  readOnly?: boolean;
  /** Overwrites or removes data; otherwise it only adds or reserves. */
  destructive?: boolean;
  /** Repeats with the same arguments change nothing more. */
  idempotent?: boolean;
  /** Accepted arguments; default: all of the route's. */
  only?: readonly string[];
  omit?: readonly string[];
  fixed?: Readonly<Record<string, unknown>>;
  /** Choices that are always rejected mislead a model. */
  choices?: Readonly<Record<string, readonly string[]>>;
  /** Default arguments. */
  defaults?: Readonly<Record<string, unknown>>;
  /** Replaces the schema's; empty: none. */
  describe?: Readonly<Record<string, string>>;
  /** Members with external text. An object's own `untrusted_fields` takes precedence. */
  untrusted?: readonly string[];
  /** Characters of each external text, unless the agent requests more. */
  textLimit?: number;
  /** Transforms the data (without envelope) for the agent. */
  answer?: (data: Readonly<Record<string, unknown>>) => Record<string, unknown>;
  /** Transforms error members other than code, message and fields. */
  refusal?: (error: Readonly<Record<string, unknown>>) => Record<string, unknown>;
}

export interface UserTextPart {
  text: string;
  /** Quotes words of others, which count as external text. */
  quoted: boolean;
}

/** Text of a signed-in user, whose quotes are external text. */
export class UserText {
  constructor(readonly parts: readonly UserTextPart[]) {}
}
