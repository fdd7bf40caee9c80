function __rt_complete
  set -l words (commandline -opc) (commandline -ct)
  for line in (rt completions query -- $words[2..-1] 2>/dev/null)
    if test "$line" = ":files"
      __fish_complete_path (commandline -ct)
    else
      echo $line
    end
  end
end
complete -c rt -f -a '(__rt_complete)'
