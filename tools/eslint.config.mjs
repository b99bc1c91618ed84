// The report's modules in web/, linted by `make lint-js`.
import js from "@eslint/js";
import globals from "globals";

export default [
  js.configs.recommended,
  {
    languageOptions: { sourceType: "module", ecmaVersion: 2024, globals: globals.browser },
    rules: {
      eqeqeq: "error",
      "no-var": "error",
      "prefer-const": "error",
      "no-shadow": "error",
      "no-implied-eval": "error",
      "no-eval": "error",
      "no-unused-vars": ["error", { argsIgnorePattern: "^_" }],
    },
  },
  { files: ["**/build.mjs", "**/tests/**"], languageOptions: { globals: globals.node } },
];
