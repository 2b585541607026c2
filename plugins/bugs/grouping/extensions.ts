/** Endings of source files, as an expression without anchors: `view.php:12` is a line of a file, `example.com:80` is not. */
export const SOURCE_EXTENSION =
  'php\\d?|phtml|inc|[cm]?[jt]sx?|vue|svelte|astro|pyx?|rb|erb|go|rs|java|kts?|scala|groovy|clj|cs|cshtml|razor|vb|fsx?|' +
  'c|cc|cpp|cxx|hh?|hpp|mm?|swift|dart|p[lm]|t|sh|bash|zsh|psm?1|bat|cmd|lua|exs?|erl|hs|mli?|sql|jl|html?|css|s[ac]ss|less|' +
  'twig|blade|hbs|ejs|tpl|xml|xsl|json|ya?ml|toml|ini|conf|cfg|txt|csv|jspx?|aspx?|ascx|pas|dpr|f90|nim|zig|cr|coffee|tf|' +
  'proto|graphql|gradle|properties';
