export type LineKind =
  | 'v8'
  | 'browser'
  | 'java'
  | 'dotnet'
  | 'python'
  | 'go'
  | 'php'
  | 'php-header'
  | 'ruby'
  | 'rust'
  | 'perl'
  | 'shell'
  | 'native'
  | 'generic';

export interface ParsedFrame {
  kind: LineKind;
  file: string | null;
  function: string | null;
  line_no: number | null;
  line: number;
  /** Header of a PHP exception with a previous one; this outer one was reported. */
  next: boolean;
  /** Without a source file, the function is part of the origin. */
  image?: string;
}

export const createParsedFrame = (
  kind: LineKind,
  file: string | null,
  name: string | null,
  line: string | number | null | undefined,
): ParsedFrame => ({
  kind,
  file: file === '' ? null : file,
  function: name === '' ? null : name,
  line_no: line === null || line === undefined || line === '' ? null : Number(line),
  line: 0,
  next: false,
});

/** `…:12` or `…:12:34`. */
export const LINE_SUFFIX = /:(\d{1,9})(?::\d{1,9})?$/;

/** Unanchored: `view.php:12` is a line of a file, `example.com:80` is not. */
export const SOURCE_EXTENSION =
  'php\\d?|phtml|inc|[cm]?[jt]sx?|vue|svelte|astro|pyx?|rb|erb|go|rs|java|kts?|scala|groovy|clj|cs|cshtml|razor|vb|fsx?|' +
  'c|cc|cpp|cxx|hh?|hpp|mm?|swift|dart|p[lm]|t|sh|bash|zsh|psm?1|bat|cmd|lua|exs?|erl|hs|mli?|sql|jl|html?|css|s[ac]ss|less|' +
  'twig|blade|hbs|ejs|tpl|xml|xsl|json|ya?ml|toml|ini|conf|cfg|txt|csv|jspx?|aspx?|ascx|pas|dpr|f90|nim|zig|cr|coffee|tf|' +
  'proto|graphql|gradle|properties';
