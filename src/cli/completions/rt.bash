_rt() {
  local line value files
  COMPREPLY=()
  while IFS= read -r line; do
    if [ "$line" = ":files" ]; then compopt -o default 2>/dev/null || files=1; continue; fi
    value=${line%%$'\t'*}
    COMPREPLY+=("$(printf '%q' "$value")")
  done < <(rt completions query -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  if [ "$files" ]; then # macOS' bash has no compopt
    while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "${COMP_WORDS[COMP_CWORD]}")
  fi
  if declare -F __ltrim_colon_completions >/dev/null; then __ltrim_colon_completions "${COMP_WORDS[COMP_CWORD]}"; fi
}
complete -F _rt rt
