// Runs before anything is painted: the reader's choice, or else the system's.
{
  let kept = null;
  try {
    kept = localStorage.getItem("thzsync-theme");
  } catch (refused) {
    kept = null;
  }
  const system = matchMedia("(prefers-color-scheme: dark)");
  const apply = (dark) =>
    document.documentElement.setAttribute("data-theme", dark ? "dark" : "light");
  apply(kept ? kept === "dark" : system.matches);
  if (!kept) system.addEventListener("change", (event) => apply(event.matches));
}
