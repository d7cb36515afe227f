/**
 * The colours, type and measures of every page that a person sees: sign-in, `/docs` and the console. One source, so
 * that the three look like one product; each page turns them into what it needs. Every text colour has a contrast of at
 * least 5.6 to 1 on canvas, surface and raised, in both themes.
 */
export const designTokens = `:root {
  color-scheme: light dark;
  --canvas: light-dark(#fbfbfa, #111110);
  --surface: light-dark(#ffffff, #191918);
  --raised: light-dark(#f2f1ee, #242422);
  --line: light-dark(#e4e3df, #33322f);
  --control-line: light-dark(#8c8a82, #6d6b64);
  --text: light-dark(#1b1b18, #edece7);
  --muted: light-dark(#5f5e57, #a3a198);
  --accent: light-dark(#1d4ed8, #8fadff);
  --accent-fill: light-dark(#1d4ed8, #2f5ce0);
  --focus: light-dark(#b45309, #f59e0b);
  --waiting: light-dark(#8a5300, #f2b84b);
  --done: light-dark(#1a6b3c, #6cc48d);
  --failed: light-dark(#b42318, #ff8b7e);
  --sans: ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "DejaVu Sans", Arial, sans-serif;
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
  --radius: 6px;
}
`;

/** The mark of the product, as SVG for pages that are rendered as text; the console draws the same one. */
export const brandMark =
  '<svg viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="7" fill="#1d4ed8"/>' +
  '<path d="M21.5 11.2a7.5 7.5 0 1 0 0 9.6" fill="none" stroke="#fff" stroke-width="3.4" stroke-linecap="round"/>' +
  '<circle cx="23" cy="16" r="2.2" fill="#fff"/></svg>';
