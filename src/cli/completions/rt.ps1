Register-ArgumentCompleter -Native -CommandName rt -ScriptBlock {
  param($word, $ast, $position)
  $words = @($ast.CommandElements | Select-Object -Skip 1 | ForEach-Object { "$_" })
  if ($word -eq '') { $words += '' }
  rt completions query -- @words 2>$null | Where-Object { $_ -ne ':files' } | ForEach-Object {
    $value, $description = $_ -split "`t", 2
    $text = if ($value -match '^[\w./-][\w@%+=:./-]*$') { $value } else { "'" + ($value -replace '[''\u2018-\u201b]', '$0$0') + "'" }
    [System.Management.Automation.CompletionResult]::new($text, $value, 'ParameterValue', $(if ($description) { $description } else { $value }))
  }
}
